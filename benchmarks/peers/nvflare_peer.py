"""NVFlare's simulator: its FedAvg, a client script with its client API."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import torch

from benchmarks.peers.work import Images, Job, Network, learn, main


def run(job: Job) -> list[float]:
    """Run its job; a round begins when its first client has been asked."""
    from nvflare.app_opt.pt.job_config.fed_avg import FedAvgJob
    from nvflare.job_config.script_runner import ScriptRunner

    with tempfile.TemporaryDirectory(prefix="fedsemi-nvflare-") as name:
        asked = Path(name) / "asked"
        script = ScriptRunner(
            script=__file__, script_args=" ".join(["client", str(asked), *job.words])
        )
        # One round more: a round ends where the next one begins.
        made = FedAvgJob(
            name="peer",
            n_clients=job.clients,
            num_rounds=job.rounds + 1,
            initial_model=Network(),
        )
        for client in range(job.clients):
            made.to(script, f"site-{client + 1}")
        # With fewer threads than sites it swaps whole processes in and out.
        made.simulator_run(name, threads=job.clients)
        lines = [line.split() for line in asked.read_text().splitlines()]
    first: dict[int, float] = {}
    for number, at in lines:
        first[int(number)] = min(first.get(int(number), float("inf")), float(at))
    return [first[number] for number in sorted(first)]


def client(asked: Path, job: Job) -> None:
    """Answer rounds as a site."""
    import nvflare.client as flare

    torch.set_num_threads(1)
    flare.init()
    number = int(flare.get_site_name().removeprefix("site-")) - 1
    network = Network()
    while flare.is_running():
        model = flare.receive()
        with asked.open("a") as file:
            file.write(f"{model.current_round} {time.perf_counter()}\n")
        network.load_state_dict(
            {key: torch.as_tensor(value) for key, value in model.params.items()}
        )
        learn(network, *Images(job)[number])
        flare.send(flare.FLModel(params=network.state_dict()))


if __name__ == "__main__":
    if sys.argv[1] == "client":
        client(Path(sys.argv[2]), Job(*map(int, sys.argv[3:7])))
    else:
        logging.disable(logging.WARNING)
        os.environ["NVFLARE_TELEMETRY"] = "0"
        main(run, version("nvflare"))
