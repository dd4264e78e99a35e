"""The same experiment on labels alone: what unlabeled sites are measured against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedsemi.config.experiment import Experiment, Stage
from fedsemi.config.method_settings import method_settings

METHOD = "supervised"


def labels_only(experiment: Experiment) -> Experiment:
    """Train on the labeled clients alone, for as many rounds and with the same seed.

    Labels are learned as the first stage that learns from them alone does, so that
    unlabeled clients are all that a comparison with it is about.
    """
    supervised = [each for each in experiment.stages if each.method == METHOD]
    stage = Stage(
        method=METHOD,
        rounds=sum(stage.rounds for stage in experiment.stages),
        local=experiment.stages[-1].local,
        **(supervised[0].settings if supervised else {}),
    )
    return experiment.model_copy(update={"stages": [stage]})


def begins_with_labels_only(experiment: Experiment) -> bool:
    """Tell whether the first stage is how training on labels alone begins, too.

    Then the rounds of that stage need not be made twice: they have the same seeds, and
    nothing in them depends on how many are to follow.
    """
    first, (alone,) = experiment.stages[0], labels_only(experiment).stages
    return (
        len(experiment.stages) > 1
        and first.method == METHOD
        and first.settings == alone.settings
        and experiment.local_of(first) == experiment.local_of(alone)
    )


def is_labels_only_of(alone: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Tell whether settings are those that `labels_only` makes of others.

    Both are as in the folders of runs, which may use methods that are not installed.
    A run may be of an older version, which did not know all settings.
    """
    if not _within({**config, "stages": None}, {**alone, "stages": None}):
        return False
    stages = config["stages"]
    supervised = [each for each in stages if each["method"] == METHOD]
    wanted = {
        "method": METHOD,
        "rounds": sum(stage["rounds"] for stage in stages),
        "local": stages[-1].get("local", {}),
        **(_settings(supervised[0]) if supervised else method_settings(METHOD, {})),
    }
    return [{"local": {}, **s, **_settings(s)} for s in alone["stages"]] == [wanted]


def _settings(stage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a stage of labels; what is left out is as by default."""
    own = {key: value for key, value in stage.items() if key not in Stage.model_fields}
    return method_settings(METHOD, {}) | own


def _within(some: Any, more: Any) -> bool:
    """Tell whether all that one table says stands in another as well."""
    if isinstance(some, Mapping) and isinstance(more, Mapping):
        return all(k in more and _within(v, more[k]) for k, v in some.items())
    return bool(some == more)
