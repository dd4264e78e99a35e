"""What tests of real deployments share: folders, processes, and what they left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from fedsemi.cli.deployment import deal_out
from fedsemi.deployment import processes
from fedsemi.deployment.certificates import make_certificates
from fedsemi.deployment.coordinator.coordinator import Coordinator
from fedsemi.deployment.coordinator.engine import Patience
from fedsemi.deployment.one_machine.trial import site_folders

HOSTS = ["127.0.0.1", "localhost"]
PATIENT = Patience(deadline=300)


def processes_of(folder):
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in line and int(entry.name) != os.getpid():
            found[int(entry.name)] = line
    return found


def dealt_out(simulation, folder, patience=PATIENT):
    deal_out(simulation, folder)
    sites = site_folders(folder)
    make_certificates(folder / "coordinator", sites, HOSTS)
    port = processes.free_port()
    coordinator = Coordinator(folder / "coordinator", port=port, patience=patience)
    return coordinator, sites, f"127.0.0.1:{port}"


def model_sha256(folder):
    summary = json.loads((folder / "coordinator/run/summary.json").read_text())
    return summary["model_sha256"]


def records_of(folder):
    lines = (folder / "coordinator/run/metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def log_of(folder, name="flower-supernode"):
    path = folder / "flower" / f"{name}.log"
    return path.read_text() if path.exists() else ""


def until(holds, seconds=400.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "this did not happen in time"
        time.sleep(0.2)


@contextmanager
def started(*arguments):
    """Run `fedsemi …` as a process of its own, its output in a pipe."""
    words = [sys.executable, "-m", "fedsemi", *map(str, arguments)]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=120)


def killed(process, folder):
    """End a side at once: its command, and all that it started in its folder."""
    for pid in [process.pid, *processes_of(folder)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
