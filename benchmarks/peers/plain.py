"""A bare loop as one would write it: a copy of the network for each client."""

from __future__ import annotations

import copy
import multiprocessing

import torch

from benchmarks.peers.work import Images, Job, Network, learn, main, now

Weights = dict[str, torch.Tensor]


def run(job: Job) -> list[float]:
    """Share the clients out among processes; add their models up."""
    weights: Weights = Network().state_dict()
    parts = [range(k, job.clients, job.processes) for k in range(job.processes)]
    marks = [now()]
    with multiprocessing.get_context("spawn").Pool(job.processes) as pool:
        for _ in range(job.rounds):
            sums = pool.starmap(_trained, [(job, part, weights) for part in parts], 1)
            weights = {
                key: sum(each[key] for each in sums) / job.clients for key in weights
            }
            marks.append(now())
    return marks


def _trained(job: Job, clients: range, weights: Weights) -> Weights:
    torch.set_num_threads(1)
    images, network = Images(job), Network()
    sums = {key: torch.zeros_like(value) for key, value in weights.items()}
    for client in clients:
        own = copy.deepcopy(network)
        own.load_state_dict(weights)
        learn(own, *images[client])
        for key, value in own.state_dict().items():
            sums[key] += value
    return sums


if __name__ == "__main__":
    main(run, torch.__version__)
