"""From what a program says to the content of a config."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from torch import nn

from fedsemi.api.sites import Sites
from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.errors import ConfigError
from fedsemi.method import Method
from fedsemi.methods import METHODS
from fedsemi.models import MODELS

AnyMethod: TypeAlias = str | type[Method[Any]]
"""The name of a method, or a class of one's own."""
AnyModel: TypeAlias = str | Callable[..., nn.Module] | Mapping[str, Any]
"""The name of a network, what makes one of one's own, or a section [model]."""
AnyStage: TypeAlias = (
    tuple[AnyMethod, int] | tuple[AnyMethod, int, Mapping[str, Any]] | Mapping[str, Any]
)
"""Method and rounds, with settings or without, or a section [[stages]]."""


def experiment_of(
    sites: Sites,
    model: AnyModel,
    stages: Sequence[AnyStage],
    seed: int,
    settings: Mapping[str, Any],
) -> Experiment:
    """Write the experiment that a call of `simulate` describes."""
    content: dict[str, Any] = {
        **sites.settings,
        "seed": seed,
        "model": model_section(model),
        "stages": [stage_section(stage) for stage in stages],
    }
    for key, value in settings.items():
        section = content.get(key)
        if isinstance(section, Mapping) and isinstance(value, Mapping):
            value = {**section, **value}
        content[key] = plain(value)
    return make_experiment(content)


def model_section(model: AnyModel) -> dict[str, Any]:
    """Return the section [model] of a network."""
    if isinstance(model, Mapping):
        return {**model, "name": _model_name(model.get("name", ""))}
    return {"name": _model_name(model)}


def stage_section(stage: AnyStage) -> dict[str, Any]:
    """Return a section [[stages]]."""
    if isinstance(stage, Mapping):
        content = dict(stage)
    elif isinstance(stage, Sequence) and len(stage) in (2, 3):
        method, rounds, *more = stage
        content = {"method": method, "rounds": rounds, **(more[0] if more else {})}
    else:
        raise ConfigError(
            f"a stage is (method, rounds), (method, rounds, settings) or a dict, not "
            f"{stage!r}",
            code="FS4102",
        )
    if "method" in content:
        content["method"] = method_name(content["method"])
    return {key: plain(value) for key, value in content.items()}


def method_name(method: AnyMethod) -> str:
    """Return the name of a method; make a class of one's own known by one."""
    if isinstance(method, str):
        return method
    if not (isinstance(method, type) and issubclass(method, Method)):
        raise ConfigError(
            f"a method is a name or a class that derives from fedsemi.Method, not "
            f"{method!r}",
            code="FS4102",
        )
    ours = METHODS.own.get(method.name) is method
    return method.name if ours else METHODS.add(method)


def plain(value: Any) -> Any:
    """Write settings that are dataclasses, such as a learner, as a config would."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return dict(value) if isinstance(value, Mapping) else value


def _model_name(model: Any) -> str:
    if isinstance(model, str):
        return model
    if not callable(model) or isinstance(model, nn.Module):
        raise ConfigError(
            "a model is a name, or a class or function that makes a torch module, not "
            f"{type(model).__name__}",
            code="FS4102",
        )
    return MODELS.add(model)
