"""pfl-research: its simulated backend, processes by torch's own launcher."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.sampling import get_user_sampler
from pfl.hyperparam.base import NNTrainHyperParams
from pfl.metrics import Metrics
from pfl.model.pytorch import PyTorchModel
from torch import Tensor
from torch.nn import functional as F

from benchmarks.peers.work import (
    BATCH,
    LEARNING_RATE,
    MOMENTUM,
    WEIGHT_DECAY,
    Images,
    Job,
    Network,
    main,
    now,
)


class Learner(Network):
    """The network with what pfl asks of one."""

    def loss(self, images: Tensor, labels: Tensor, eval: bool = False) -> Tensor:
        """Say what is learned."""
        self.train(not eval)
        return F.cross_entropy(self(images), labels)

    def metrics(self, images: Tensor, labels: Tensor) -> dict[str, Any]:
        """Nothing is measured."""
        return {}


class Watch(TrainingProcessCallback):
    """Notes when rounds end."""

    def __init__(self) -> None:
        self.marks: list[float] = []

    def on_train_begin(self, *, model: Any) -> Metrics:
        """Note the beginning."""
        self.marks.append(now())
        return Metrics()

    def after_central_iteration(self, *args: Any, **kwargs: Any) -> Any:
        """Note the end of a round, and go on."""
        self.marks.append(now())
        return False, Metrics()


def run(job: Job) -> list[float]:
    """Let all clients take part in each round."""
    np.random.seed(0)
    images, users = Images(job), list(range(job.clients))
    data = FederatedDataset(
        lambda user: Dataset(list(images[user]), user_id=str(user)),
        get_user_sampler("minimize_reuse", users),
    )
    network = Learner()
    model = PyTorchModel(
        network,
        lambda parameters, lr: torch.optim.SGD(
            parameters, lr, MOMENTUM, weight_decay=WEIGHT_DECAY
        ),
        torch.optim.SGD(network.parameters(), 1.0),
    )
    watch = Watch()
    FederatedAveraging().run(
        backend=SimulatedBackend(training_data=data, val_data=data),
        model=model,
        algorithm_params=NNAlgorithmParams(job.rounds, job.rounds, job.clients, 0),
        model_train_params=NNTrainHyperParams(
            local_batch_size=BATCH,
            local_num_epochs=1,
            local_learning_rate=LEARNING_RATE,
        ),
        model_eval_params=None,
        callbacks=[watch],
    )
    return watch.marks


if __name__ == "__main__":
    several = int(sys.argv[3])
    if several > 1 and "TORCHELASTIC_RUN_ID" not in os.environ:
        launcher = [
            "torch.distributed.run",
            "--standalone",
            f"--nproc-per-node={several}",
        ]
        command = ["-m", *launcher, "-m", "benchmarks.peers.pfl_peer", *sys.argv[1:]]
        sys.exit(subprocess.run([sys.executable, *command], check=False).returncode)
    os.environ["PFL_PYTORCH_DEVICE"] = "cpu"
    main(run, version("pfl"))
