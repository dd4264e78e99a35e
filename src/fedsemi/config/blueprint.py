"""What server and sites must agree on: enough to build every method, and no data."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedsemi.config.experiment import Experiment, Stage, make_experiment
from fedsemi.config.method_settings import method_settings
from fedsemi.config.plugged import check_plugins, plugins_of
from fedsemi.config.privacy import check_statistics, masked
from fedsemi.data.augment import Views
from fedsemi.errors import ConfigError, StorageError
from fedsemi.messages import ClientInfo, Weights
from fedsemi.method import Method
from fedsemi.methods import METHODS
from fedsemi.models import ModelSpec
from fedsemi.models.precision import check_precision
from fedsemi.objectives.workbench import Setup, StatisticsNoise
from fedsemi.seeds import seed_of
from fedsemi.storage import read_weights
from fedsemi.text.json_text import parsed_object

_MAX_BYTES = 1_000_000


@dataclass(frozen=True, eq=False)
class Blueprint:
    """An experiment without its data; methods are built from it, on either side."""

    experiment: Experiment
    model: ModelSpec
    views: Views
    class_names: tuple[str, ...]
    secret: bytes = field(default=b"", repr=False, kw_only=True)
    """What noise is made from where nobody else may know it; never written down."""
    features: Path | None = field(default=None, repr=False, kw_only=True)
    """Where a site keeps features of a frozen encoder; in the user's cache if None."""

    def setup(self, stage: Stage) -> Setup:
        """Return what the stage's method is built from."""
        local = self.experiment.local_of(stage)
        experiment = self.experiment
        return Setup(
            self.model,
            self.views,
            local,
            experiment.device,
            experiment.precision,
            stage.rounds,
            self._statistics_noise(),
            self.features,
        )

    def _statistics_noise(self) -> StatisticsNoise | None:
        privacy = self.experiment.privacy
        if not privacy.statistics_noise:
            return None
        return StatisticsNoise(
            privacy.statistics_noise, privacy.statistics_clip, self.secret
        )

    def method(self, stage: Stage) -> Method[Any]:
        """Build the method of a stage."""
        check_precision(self.experiment.precision, self.experiment.device)
        settings = method_settings(stage.method, stage.settings)
        maker: Any = METHODS[stage.method]
        method: Method[Any] = maker(self.setup(stage), **settings)
        privacy = self.experiment.privacy
        check_statistics(privacy, method)
        if not privacy.masked or (privacy.plain_warm_up and method.labels_only):
            return method
        # Sites may compute elsewhere, and yet follow the same plan.
        place = f"{self.on('cpu').sha256} {self._number(stage)}"
        return masked(method, privacy, place, self.experiment.seed, self.secret)

    def _number(self, stage: Stage) -> int:
        """Return which stage it is; two of a plan may be written alike."""
        stages = self.experiment.stages
        return next((i for i, each in enumerate(stages) if each is stage), len(stages))

    def initial_weights(self) -> Weights:
        """Return the weights that the first stage begins with."""
        fresh = self.model.start(seed_of(self.experiment.seed, "init"))
        if self.experiment.start is None:
            return fresh
        try:
            return _fitting(read_weights(Path(self.experiment.start)), fresh)
        except StorageError as error:
            raise StorageError(
                f"start: {error.args[0]}; name another file with --set start=FILE, or "
                "take `start` out of the config",
                error.code,
            ) from error

    def on(self, device: str) -> Blueprint:
        """Return the same blueprint, computed elsewhere."""
        experiment = self.experiment.model_copy(update={"device": device})
        return Blueprint(
            experiment,
            self.model,
            self.views,
            self.class_names,
            secret=self.secret,
            features=self.features,
        )

    def work(self, workers: int) -> list[float]:
        """Compare the rounds of the stages by their work; here nothing is known."""
        return [1.0 for _ in self.experiment.stages]

    def provenance(self) -> dict[str, Any]:
        """Name the data by hashes, as far as this side knows them."""
        return {}

    def clients(self) -> tuple[ClientInfo, ...]:
        """Say who takes part and with how much data, as far as this side knows."""
        return ()

    def num_images(self) -> dict[str, int]:
        """Count the images of real sites by their names, where this side knows them."""
        return {}

    def as_json(self) -> str:
        """Write the blueprint so that another machine can read it."""
        # What came later: a plan without it keeps its name.
        later: dict[str, Any] = {}
        if not self.experiment.membership:
            later["membership"] = True
        if self.experiment.privacy.groups == 1:
            later["privacy"] = {"groups"}
        if self.experiment.evaluation.delivers == "global":
            later["evaluation"] = {"delivers"}
        content = {
            "experiment": self.experiment.model_dump(mode="json", exclude=later),
            "model": self.model.for_others().as_dict(),
            "views": dataclasses.asdict(self.views),
            "class_names": self.class_names,
        }
        if plugins := plugins_of(self.experiment):
            content["plugins"] = plugins
        return json.dumps(content, sort_keys=True)

    @property
    def sha256(self) -> str:
        """Name the blueprint by its content."""
        return hashlib.sha256(self.as_json().encode()).hexdigest()


def read_blueprint(
    text: str | bytes, check: Callable[[Mapping[str, Any]], None] | None = None
) -> Blueprint:
    """Read what `as_json` wrote.

    Args:
        text: The plan.
        check: Refuses its content, before anything that it names is looked for.
    """
    try:
        if len(text) > _MAX_BYTES:
            raise ValueError(f"it is larger than {_MAX_BYTES // 1000} kB")
        content = parsed_object(text)
        if check is not None:
            check(content)
        views = content["views"]
        blueprint = Blueprint(
            make_experiment(content["experiment"], with_data=False),
            ModelSpec.from_dict(content["model"]),
            Views(**views | {"mean": tuple(views["mean"]), "std": tuple(views["std"])}),
            tuple(content["class_names"]),
        )
        if blueprint.model.name != blueprint.experiment.model.name:
            raise ValueError("it names two networks")
        check_plugins(content.get("plugins", {}), plugins_of(blueprint.experiment))
        return blueprint
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"the plan is damaged or of another fedsemi release ({error}); make it "
            "again with `fedsemi deal`",
            code="FS4106",
        ) from None


def _fitting(weights: Weights, fresh: Weights) -> Weights:
    for key, value in fresh.items():
        if key not in weights or weights[key].shape != value.shape:
            raise StorageError(
                f"the start model does not fit at '{key}'; use the same model, width "
                "and number of classes",
                code="FS1106",
            )
    return {key: weights[key] for key in fresh}
