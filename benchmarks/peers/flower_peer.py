"""Flower's simulation on Ray: its records, a core for each client."""

from __future__ import annotations

import logging
import os
import warnings
from importlib.metadata import version

import torch
from flwr.app import ArrayRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation

from benchmarks.peers.work import Images, Job, Network, learn, main, now


def run(job: Job) -> list[float]:
    """Ask every node in every round, and take the mean of what comes back."""
    client, server, marks = ClientApp(), ServerApp(), list[float]()

    @client.train()
    def train(message: Message, context: Context) -> Message:
        torch.set_num_threads(1)
        network = Network()
        network.load_state_dict(message.content["weights"].to_torch_state_dict())
        learn(network, *Images(job)[int(context.node_config["partition-id"])])
        return Message(
            RecordDict({"weights": ArrayRecord(network.state_dict())}), reply_to=message
        )

    @server.main()
    def serve(grid: Grid, context: Context) -> None:
        weights = Network().state_dict()
        marks.append(now())
        for _ in range(job.rounds):
            content = RecordDict({"weights": ArrayRecord(weights)})
            replies = grid.send_and_receive(
                [
                    Message(content, dst_node_id=node, message_type="train")
                    for node in grid.get_node_ids()
                ]
            )
            sums = {key: torch.zeros_like(value) for key, value in weights.items()}
            for reply in replies:
                answer = reply.content["weights"].to_torch_state_dict()
                for key, value in answer.items():
                    sums[key] += value
            weights = {key: value / job.clients for key, value in sums.items()}
            marks.append(now())

    resources = {"num_cpus": 1, "num_gpus": 0.0}
    config = {
        "client_resources": resources,
        "init_args": {"num_cpus": job.processes, "address": "local"},
    }
    run_simulation(server, client, job.clients, backend_config=config)
    return marks


if __name__ == "__main__":
    os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    main(run, version("flwr"))
