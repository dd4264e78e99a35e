"""A coordinator that wants a labeled site's class counts and follows the protocol."""

from __future__ import annotations

from pathlib import Path

from flwr.app import Context, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity
from torch import Tensor

from fedsemi.blueprint import Blueprint
from fedsemi.engines.flower.client_app import client_app, deployed_desk
from fedsemi.engines.flower.codec import Order, decode_update, encode_order
from fedsemi.messages import Task, Update, Weights
from fedsemi.seeds import seed_of


def asked(blueprint: Blueprint, folder: Path, order: Order) -> RecordDict:
    """Send an order to the unmodified code of a site; return what it answers."""
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
    config = {"plan": blueprint.as_json()}
    context = Context(1, 1, {"data": str(folder)}, RecordDict(), config)
    message = Message(encode_order(order), 1, "train")
    return client_app(deployed_desk)(message, context).content


def task(blueprint: Blueprint, weights: Weights, client: int, round: int = 0) -> Task:
    """Make a task as an honest coordinator would, but for the weights."""
    stage = seed_of(blueprint.experiment.seed, "stage", 0)
    seed = seed_of(stage, "task", round, client, 0)
    return Task(client, round, weights, seed=seed)


def blinded(weights: Weights) -> Weights:
    """Make the head zero: the model gives every class the same chance, always."""
    return {k: v * 0 if k.startswith("head.") else v for k, v in weights.items()}


def counts_from(update: Update, before: Weights, lr: float, steps: int = 1) -> Tensor:
    """Read class counts off the head's bias.

    At a zero head the gradient of bias c is 1/C minus the share of class c, whatever
    the images are; one plain step of SGD then says how many there are.
    """
    change = (update.weights["head.bias"] - before["head.bias"]).double()
    shares = 1 / len(change) + change / (lr * steps)
    return shares * update.num_labeled


def update_of(content: RecordDict) -> Update:
    """Read an answer that is none of refusal."""
    assert "failure" not in content, dict(content["failure"])
    return decode_update(content)
