"""The same clients in Flower's own simulation engine, which runs on Ray."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch

from benchmarks.common import Federation, Section, make_clients, make_setup, run_apart
from fedsemi.data.client import Client
from fedsemi.messages import Task, Update, Weights

if TYPE_CHECKING:  # fedsemi's own part is measured without Flower in memory
    from flwr.app import Context, Message
    from flwr.serverapp import Grid

_CLIENTS = 8
_SAMPLES = 128
_ROUNDS = 4


def flower(times: int) -> Section:
    """Item 5: rounds per minute, memory and start-up."""
    rows = []
    for name, title in (("ray", "Flower on Ray"), ("fedsemi", "fedsemi")):
        result, peak = run_apart("benchmarks.flower_ray", name)
        later = sorted(result["later"])[len(result["later"]) // 2]
        rows.append(
            [
                title,
                f"{60 / later:.1f}",
                f"{later:.2f} s",
                f"{result['first']:.1f} s",
                f"{peak:.0f} MB",
                result["digest"][:8],
            ]
        )
    return Section(
        "Against Flower's simulation engine",
        f"SemiAnAgg, {_CLIENTS} clients of {_SAMPLES} samples, `resnet8` at 32x32, two "
        "cores. Both sides call the same `method.train`, and the last column, the hash "
        "of the model after the last round, shows it. Start-up goes from the start of "
        "the interpreter to the end of the first round.",
        ["engine", "rounds per minute", "round", "start-up", "peak memory", "model"],
        rows,
    )


def run_here() -> dict[str, object]:
    """Run the rounds in fedsemi's workers."""
    clients = make_clients(_CLIENTS, _SAMPLES, 1)
    federation = Federation("semianagg", make_setup(), clients, 2)
    ends = [time.time()]
    with federation.engine:
        for _ in range(_ROUNDS - 1):
            federation()
            ends.append(time.time())
    return _result(federation.state.weights, ends)


def run_in_flower() -> dict[str, object]:
    """Run the rounds in Flower's simulation, client state in Flower's contexts."""
    from flwr.clientapp import ClientApp
    from flwr.serverapp import ServerApp
    from flwr.simulation import run_simulation

    from fedsemi.methods import METHODS

    method = METHODS["semianagg"](make_setup())
    clients = make_clients(_CLIENTS, _SAMPLES, 1)
    client_app, server_app = ClientApp(), ServerApp()
    result: dict[str, object] = {}

    @client_app.train()
    def train(message: Message, context: Context) -> Message:
        torch.set_num_threads(1)
        return _answer(method, clients, message, context)

    @server_app.main()
    def main(grid: Grid, context: Context) -> None:
        result.update(_result(*_rounds(method, clients, grid)))

    resources = {"client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
    run_simulation(server_app, client_app, _CLIENTS, backend_config=resources)
    return result


def _answer(
    method: Any, clients: list[Client], message: Message, context: Context
) -> Message:
    """Carry out the task of one client, whose memory is in the context."""
    from flwr.app import ArrayRecord, ConfigRecord, Message, RecordDict

    settings, content = message.content["task"], message.content
    id = int(context.node_config["partition-id"])
    task = Task(
        id,
        int(settings["round"]),
        content["weights"].to_torch_state_dict(),
        content["broadcast"].to_torch_state_dict(),
        seed=int(json.loads(settings["seeds"])[id]),
    )
    kept = context.state.array_records.get("memory", ArrayRecord())
    update, memory = method.train(task, clients[id], kept.to_torch_state_dict())
    context.state["memory"] = ArrayRecord(dict(memory))
    numbers = {
        "client": id,
        "labeled": update.num_labeled,
        "unlabeled": update.num_unlabeled,
        "pseudo": update.num_pseudo,
    }
    parts = {
        "weights": ArrayRecord(dict(update.weights)),
        "statistics": ArrayRecord(dict(update.statistics)),
        "numbers": ConfigRecord(numbers),
    }
    return Message(RecordDict(parts), reply_to=message)


def _rounds(
    method: Any, clients: list[Client], grid: Grid
) -> tuple[Weights, list[float]]:
    """Ask all nodes in every round; return the last model and when each round ended."""
    from flwr.app import ArrayRecord, ConfigRecord, Message, RecordDict

    infos = [client.info for client in clients]
    state = method.init(method.setup.model.build(0).state_dict(), infos)
    while len(nodes := list(grid.get_node_ids())) < _CLIENTS:
        time.sleep(0.05)
    ends = []
    for _ in range(_ROUNDS):
        tasks = method.plan(state)
        seeds = json.dumps([task.seed for task in tasks])
        content = RecordDict(
            {
                "weights": ArrayRecord(dict(state.weights)),
                "broadcast": ArrayRecord(dict(tasks[0].broadcast)),
                "task": ConfigRecord({"round": state.round, "seeds": seeds}),
            }
        )
        messages = [
            Message(content, dst_node_id=node, message_type="train") for node in nodes
        ]
        replies = list(grid.send_and_receive(messages))
        state = method.aggregate(state, _updates_of(replies, state.round))
        ends.append(time.time())
    return state.weights, ends


def _updates_of(replies: list[Message], round: int) -> list[Update]:
    updates = []
    for reply in replies:
        numbers = reply.content["numbers"]
        updates.append(
            Update(
                int(numbers["client"]),
                round,
                reply.content["weights"].to_torch_state_dict(),
                int(numbers["labeled"]),
                int(numbers["unlabeled"]),
                int(numbers["pseudo"]),
                reply.content["statistics"].to_torch_state_dict(),
            )
        )
    return sorted(updates, key=lambda update: update.client)


def _result(weights: Weights, ends: list[float]) -> dict[str, object]:
    from fedsemi.weights import digest

    later = [b - a for a, b in pairwise(ends)]
    first = ends[0] - float(os.environ["BENCHMARK_STARTED"])
    return {"first": first, "later": later, "digest": digest(weights)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    chosen = run_in_flower if sys.argv[1] == "ray" else run_here
    print(json.dumps(chosen()))
