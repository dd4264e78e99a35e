"""A coordinator that keeps to the protocol and wants a labeled site's class counts."""

from __future__ import annotations

from pathlib import Path

from flwr.app import Context, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity
from torch import Tensor

from fedsemi.config.blueprint import Blueprint
from fedsemi.deployment.codec import Order, encode_order
from fedsemi.deployment.site.client_app import client_app, deployed_desk
from fedsemi.deployment.site.desk import Desk
from fedsemi.messages import Task, Update, Weights
from fedsemi.seeds import seed_of


def real_desk(blueprint: Blueprint, folder: Path) -> Desk:
    """Open the desk of a real site for a plan that came with a run."""
    config = {"plan": blueprint.as_json()}
    return deployed_desk(Context(1, 1, {"data": str(folder)}, RecordDict(), config))


def asked(blueprint: Blueprint, folder: Path, order: Order) -> RecordDict:
    """Send an order to the unmodified code of a site; return what it answers."""
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
    app = client_app(lambda context: real_desk(blueprint, folder))
    message = Message(encode_order(order), 1, "train")
    return app(message, Context(1, 1, {}, RecordDict(), {})).content


def refusal(content: RecordDict) -> str:
    """Return why a site does not answer, empty if it does."""
    return str(content["failure"]["reason"]) if "failure" in content else ""


def order(blueprint: Blueprint, weights: Weights, client: int, round: int = 0) -> Order:
    """Make an order as an honest coordinator would, but for the weights."""
    stage = seed_of(blueprint.experiment.seed, "stage", 0)
    seed = seed_of(stage, "task", round, client, 0)
    return Order(Task(client, round, weights, seed=seed), stage=0, sites=3)


def blinded(weights: Weights) -> dict[str, Tensor]:
    """Make the head zero: the model gives every class the same chance, always."""
    return {k: v * 0 if k.startswith("head.") else v for k, v in weights.items()}


def counts_from(update: Update, before: Weights, lr: float) -> Tensor:
    """Read class counts off the head's bias after one step without momentum.

    At a zero head the gradient of bias c is 1/C minus the share of class c, whatever
    the images show.
    """
    change = (update.weights["head.bias"] - before["head.bias"]).double()
    return (1 / len(change) + change / lr) * update.num_labeled
