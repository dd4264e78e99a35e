"""Experiments as TOML files: strict, with overrides, and a hash that names the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fedsemi.config.arrays import check_arrays
from fedsemi.config.explain import explained, known, unknown_key
from fedsemi.config.files import find_config, read_settings
from fedsemi.config.membership import Member, check_membership
from fedsemi.config.method_settings import parsed, settings_model
from fedsemi.config.naming import sha256_of
from fedsemi.config.owners import check_partition_file, check_sites
from fedsemi.config.privacy import PrivacySettings, check_noise, check_privacy
from fedsemi.config.protection import GUARD_RULES, AlarmSettings, GuardSettings
from fedsemi.config.setting import CardSettings, check_setting
from fedsemi.data.arrays import ARRAYS
from fedsemi.data.datasets import DATASETS, refuse_unusable
from fedsemi.data.rare_classes import RareClasses
from fedsemi.data.site_settings import FOLDERS, SitesSettings
from fedsemi.errors import ConfigError
from fedsemi.methods import METHODS
from fedsemi.models import MODELS, settings_of
from fedsemi.models.encoder_files import check_encoder
from fedsemi.models.encoders import EncoderSpec
from fedsemi.models.precision import Precision
from fedsemi.objectives.workbench import LocalTraining
from fedsemi.settings import STRICT, Count, Positive, Share, Whole

T = TypeVar("T")


class _Settings(BaseModel):
    model_config = ConfigDict(**STRICT, frozen=True)


class DataSettings(_Settings):
    """[data]: which images."""

    name: str
    """A data set of `fedsemi datasets`, module:function for one of your own, "folders"
    for the images of [sites], or "arrays" for what a Python program had in memory."""
    image_size: Count | None = None
    """Side of the network's input; the data set's own if left out."""
    pre_size: Count | None = None
    """Side of training images before a random crop is cut from them; 40 for 32."""
    split: Literal["image", "lesion"] = "image"
    """For ISIC: the literature's split by image, or one that keeps lesions together."""
    train_limit: Count | None = None
    """Use a random part of the training images."""
    test_limit: Count | None = None
    """Use a random part of the test images."""
    flip: bool = True
    """Mirror images at random, as the paper does even for digits."""
    sha256: str | None = None
    """Refuse to run on any other images; the only name that arrays have."""


class PartitionSettings(_Settings):
    """[partition]: who owns which images, and who has labels."""

    scheme: Literal["dirichlet", "iid", "rare-classes"] = "dirichlet"
    """Skewed classes and sizes, a fair draw, or half of the classes at few sites."""
    rare: RareClasses = Field(default_factory=RareClasses)
    """For the scheme "rare-classes"."""
    num_clients: Count = 10
    """K."""
    labeled_clients: Count | list[Whole] | Literal["all"] = 1
    """How many clients have labels, or which ones."""
    dirichlet_alpha: Positive = 0.8
    """Small values give each client few classes."""
    labeled_fraction: Share | None = None
    """Instead of labeled clients: this part of every client's data has labels."""
    min_size: Whole = 10
    """Draw again until every client has this many images."""
    seed: Whole | None = None
    """Of the draw; the run's own seed if left out."""
    sha256: str | None = None
    """Refuse to run on any other partition."""
    file: str | None = None
    """A published index file (.pth) instead of a draw: a path, or its name in a data
    folder."""


class ModelSettings(BaseModel):
    """[model]: the network; all other keys are settings of a network of your own."""

    model_config = ConfigDict(
        extra="allow", strict=True, frozen=True, use_attribute_docstrings=True
    )

    name: str
    """resnet18-cifar, resnet18-imagenet, resnet8, simple-cnn, efficientnet-lite0,
    module:Name, or, with a section [model.encoder], torchscript:FILE, onnx:FILE or
    timm:NAME."""
    width: Count | None = None
    """Channels of the first stage; the network's own default if left out."""
    encoder: EncoderSpec | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The network's own settings as written."""
        return dict(self.model_extra or {})


class EvaluationSettings(_Settings):
    """[evaluation]: when the global model is tested."""

    every: Count = 1
    """Test after every n-th round, and after the last one of each stage."""
    running_mean: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Test a running mean of the global model as well, which keeps this in a round."""
    delivers: Literal["global", "running-mean"] = "global"
    """Which of the two models the run is tested by and ends with; the other one's
    accuracy is noted beside it."""
    validation_fraction: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    """Part of its labels that a labeled client keeps to measure models with."""


class Stage(BaseModel):
    """[[stages]]: a method and its rounds; all other keys are the method's settings."""

    model_config = ConfigDict(
        extra="allow", strict=True, frozen=True, use_attribute_docstrings=True
    )

    method: str
    """Which method; `fedsemi methods` lists them."""
    rounds: Whole
    """How many rounds."""
    local: dict[str, Any] = Field(default_factory=dict)
    """Settings of [local] that differ in this stage."""

    @property
    def settings(self) -> dict[str, Any]:
        """The method's own settings as written."""
        return dict(self.model_extra or {})


class Experiment(_Settings):
    """A whole experiment: data, clients, network and a list of stages."""

    seed: Whole = 1
    """Everything random in the run derives from it."""
    data: DataSettings
    setting: CardSettings = Field(default_factory=CardSettings)
    partition: PartitionSettings = Field(default_factory=PartitionSettings)
    sites: SitesSettings | None = None
    model: ModelSettings
    local: LocalTraining = Field(default_factory=LocalTraining)
    evaluation: EvaluationSettings = Field(default_factory=EvaluationSettings)
    guard: GuardSettings = Field(default_factory=GuardSettings)
    alarms: AlarmSettings = Field(default_factory=AlarmSettings)
    privacy: PrivacySettings = Field(default_factory=PrivacySettings)
    membership: list[Member] = Field(default_factory=list)
    stages: list[Stage] = Field(min_length=1)
    start: str | None = None
    """A model.safetensors to begin with, e.g. of a warm-up that several runs share."""
    device: str = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps."""
    precision: Precision = "float32"
    """Of encoders in training, labeling and tests: float32, or bf16 by autocast."""

    @property
    def sha256(self) -> str:
        """Name the experiment by what differs from the defaults of its schema."""
        stages = [_checked_settings(stage) for stage in self.stages]
        decided = {"experiment": self, "stages": stages}
        if self.guard.enabled and GUARD_RULES > 1:
            decided["guard_rules"] = GUARD_RULES
        if self.model.settings:
            decided["model"] = self.model.settings
        return sha256_of(decided)

    def local_of(self, stage: Stage) -> LocalTraining:
        """Return the local training of a stage: [local] and the stage's own."""
        return parsed(LocalTraining, dataclasses.asdict(self.local) | stage.local)


def load_config(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """Read a TOML file or a run's config.json, apply overrides, check everything."""
    path = find_config(path)
    experiment = make_experiment(read_settings(path, overrides))
    if experiment.sites is None:
        return experiment
    sites = experiment.sites.beside(path.absolute().parent)
    return experiment.model_copy(update={"sites": sites})


def make_experiment(
    content: Mapping[str, Any], *, with_data: bool = True
) -> Experiment:
    """Check the content of a config, the settings of every method included.

    Args:
        content: As it was read.
        with_data: Whether the data set is read here; sites have images of their own.
    """
    experiment = _checked(Experiment, content)
    if with_data:
        refuse_unusable(experiment.data.name)
        known("data.name", experiment.data.name, DATASETS, FOLDERS, ARRAYS)
        if experiment.sites is not None:
            experiment.sites.check_folders()
    check_sites(experiment)
    check_arrays(experiment)
    check_setting(experiment)
    check_partition_file(experiment)
    _check_delivery(experiment.evaluation)
    check_privacy(experiment.privacy, experiment.guard, experiment.alarms)
    check_noise(experiment.privacy, experiment.guard, experiment.alarms)
    check_membership(experiment.membership, experiment.privacy.masked)
    _check_model(experiment.model)
    stages = [_checked_stage(i, stage) for i, stage in enumerate(experiment.stages)]
    for i, stage in enumerate(stages):
        merged = dataclasses.asdict(experiment.local) | stage.local
        _checked(LocalTraining, merged, f"stages.{i}.local")
    return experiment.model_copy(update={"stages": stages})


def _check_model(model: ModelSettings) -> None:
    """Refuse a network that is not there, and keys that it does not take."""
    known("model.name", model.name, MODELS)
    taken = settings_of(model.name)
    for key in model.settings:
        if taken is not None and key not in taken:
            raise unknown_key(f"model.{key}", [*ModelSettings.model_fields, *taken])
    check_encoder(model.name, MODELS[model.name], model.encoder)


def _check_delivery(evaluation: EvaluationSettings) -> None:
    """A running mean is delivered only where one is kept."""
    if evaluation.delivers == "running-mean" and evaluation.running_mean is None:
        raise ConfigError(
            "evaluation.delivers = 'running-mean' needs 'evaluation.running_mean', "
            "what the mean keeps of itself in a round, e.g. 0.85",
            code="FS4105",
        )


def _checked_settings(stage: Stage) -> BaseModel:
    return parsed(settings_model(stage.method, stage.settings), stage.settings)


def _checked_stage(number: int, stage: Stage) -> Stage:
    known(f"stages.{number}.method", stage.method, METHODS)
    model = settings_model(stage.method, stage.settings)
    checked = _checked(model, stage.settings, f"stages.{number}")
    return Stage(
        method=stage.method,
        rounds=stage.rounds,
        local=stage.local,
        **checked.model_dump(mode="json"),
    )


def _checked(kind: type[T], content: Mapping[str, Any], prefix: str = "") -> T:
    try:
        return parsed(kind, content)
    except ValidationError as error:
        stage_keys = Stage.model_fields if prefix.count(".") == 1 else ()
        raise explained(error, kind, prefix, stage_keys) from None
