"""The run that was recorded by hand, for the tests of this folder as well."""

from tests.report.conftest import make_run

__all__ = ["make_run"]
