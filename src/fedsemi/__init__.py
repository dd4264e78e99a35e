"""Federated semi-supervised learning: one classifier, many sites, few labels."""

from importlib.metadata import version

__version__ = version("fedsemi")
