"""Image, containers and service: that what they say exists, and that they are tight.

No daemon runs here, so nothing is built: files are read, their commands are typed, and
in a slow test the commands of the compose file make a federation as plain processes.
"""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import fault

from fedsemi.report.run import read_run
from fedsemi.report.view import evaluation_of

yaml = pytest.importorskip("yaml", reason="comes with fedsemi[flower]")

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "fedsemi-site@.service"
SERVICES: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())[
    "services"
]
SITES = [name for name in SERVICES if name.startswith("site-")]


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions: the word, and what it is given."""
    lines = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    words = [line.strip().split(maxsplit=1) for line in lines]
    return [(each[0], each[1]) for each in words if each and each[0] != "#"]


def given(word: str) -> list[str]:
    return [rest for name, rest in instructions() if name == word]


def unit_settings() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found.setdefault(key, []).append(value)
    return found


def test_the_image_is_built_of_files_that_exist_and_are_let_in() -> None:
    let_in = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    copied = {
        source
        for rest in given("COPY")
        if "--from" not in rest
        for source in rest.split()[:-1]
    }
    assert copied == let_in
    assert all((ROOT / source).exists() for source in copied)
    named = re.findall(r"requirements/[\w.-]+", " ".join(given("RUN")))
    assert set(named) == {
        "requirements/deploy.txt",
        "requirements/torch.txt",
        "requirements/torch-cpu.txt",
        "requirements/release.txt",
    }
    assert all((ROOT / name).is_file() for name in named)


def test_all_that_an_image_installs_is_compared_with_a_hash() -> None:
    installs = re.findall(r"pip install[^&;]*", " ; ".join(given("RUN")))
    assert len(installs) == 4
    for each in installs:
        assert "--no-cache-dir" in each and "--no-deps" in each
        assert "--require-hashes" in each or "--no-index dist/" in each
    assert not given("ADD")
    assert not re.search(r"curl|wget|apt-get|sudo", " ".join(given("RUN")))


def test_an_image_runs_fedsemi_as_nobody_in_particular() -> None:
    names = [name for name, _ in instructions()]
    assert names.index("ENTRYPOINT") > names.index("USER")
    (user,) = given("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user), (
        "numbers, which a cluster can check"
    )
    assert given("ENTRYPOINT") == ['["fedsemi"]']
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert "fedsemi" in scripts
    for base in given("FROM"):
        assert base.split()[0] == "python:${PYTHON}"
    (python,) = [rest for rest in given("ARG") if rest.startswith("PYTHON=")]
    assert python == "PYTHON=3.11-slim-bookworm", "the one that torch-cpu.txt is for"


def test_the_accelerator_is_chosen_by_an_argument_that_the_image_knows() -> None:
    assert "ACCELERATOR=cpu" in given("ARG")
    for service in SERVICES.values():
        assert set(service["build"]["args"]) == {"ACCELERATOR"}
        assert (DEPLOY / service["build"]["context"]).resolve() == ROOT
        assert (ROOT / service["build"]["dockerfile"]).is_file()


@pytest.mark.parametrize("name", SERVICES)
def test_the_command_of_a_container_can_be_typed(name: str) -> None:
    assert fault(SERVICES[name]["command"]) is None


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_can_change_nothing_but_its_own_folder(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "ports", "pid", "ipc", "devices"} & service.keys()
    (volume,) = service["volumes"]
    inside = volume.split(":")[1]
    assert inside in service["command"], "the folder that its command works in"


def test_sites_see_their_own_folder_and_reach_the_coordinator_alone() -> None:
    folders = [SERVICES[name]["volumes"][0].split(":")[0] for name in SITES]
    assert folders == [f"../trial/site-{n}" for n in range(3)]
    networks = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["networks"]
    for name in (*SITES, "coordinator"):
        assert SERVICES[name]["networks"] == ["sites"]
    assert networks["sites"]["internal"]
    for name in SITES:
        assert SERVICES[name]["command"][-1] == "coordinator:9092"
    assert SERVICES["certificates"]["command"][-1] == "coordinator"


def test_containers_with_a_gpu_differ_in_the_device_alone() -> None:
    found = yaml.safe_load((DEPLOY / "compose.gpu.yaml").read_text())["services"]
    assert set(found) == set(SITES)
    for name, service in found.items():
        assert fault(service["command"]) is None
        assert service["command"][:-2] == SERVICES[name]["command"]
        assert service["command"][-2:] == ["--device", "cuda"]


def test_the_service_runs_a_command_that_can_be_typed() -> None:
    (line,) = unit_settings()["ExecStart"]
    program, *words = shlex.split(line)
    assert program == "/opt/fedsemi/bin/fedsemi"
    assert fault(words) is None


def test_the_service_starts_again_unless_a_person_is_needed() -> None:
    found = unit_settings()
    assert found["Restart"] == ["on-failure"]
    assert found["RestartPreventExitStatus"] == ["64 65"]
    exits = tomllib.loads((ROOT / "src/fedsemi/text/error_codes.toml").read_text())[
        "exits"
    ]
    assert {"64", "65"} <= set(exits)
    for key in ("NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices"):
        assert found[key] == ["yes"]
    assert found["ProtectSystem"] == ["strict"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd")
def test_systemd_understands_the_service_and_finds_it_tight(tmp_path: Path) -> None:
    text = UNIT.read_text().replace("/opt/fedsemi/bin/fedsemi", sys.executable)
    unit = tmp_path / "fedsemi-site@a.service"
    unit.write_text(text)
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in verified.stderr.splitlines() if unit.name in line]
    assert said == [] and verified.returncode == 0, verified.stderr
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == 0, f"more exposed than 2.0: {judged.stdout[-300:]}"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def as_process(name: str, folder: Path, port: int) -> list[str]:
    """Turn the command of a container into one of this machine."""
    service = SERVICES[name]
    outside, inside = service["volumes"][0].split(":")
    place = str(folder / outside.removeprefix("../"))
    here = {inside: place, "coordinator:9092": f"127.0.0.1:{port}", "9092": str(port)}
    words = [here.get(word, word) for word in service["command"]]
    return [sys.executable, "-m", "fedsemi", *words]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_commands_of_the_containers_make_a_federation(tmp_path: Path) -> None:
    pytest.importorskip("flwr", reason="needs fedsemi[flower]")
    port = free_port()
    for name in ("deal", "certificates"):
        subprocess.run(as_process(name, tmp_path, port), check=True)
    everybody = [
        subprocess.Popen(as_process(name, tmp_path, port))
        for name in ("coordinator", *SITES)
    ]
    coordinator, *sites = everybody
    try:
        assert coordinator.wait(840) == 0
        probe = SERVICES["coordinator"]["healthcheck"]["test"]
        assert probe[:2] == ["CMD", "python"]
        assert all(site.poll() is None for site in sites), "they wait for the next run"
        run = read_run(tmp_path / "trial/coordinator/run")
        assert run.evaluation["test"]["scores"]["missing"] == []
        assert list(evaluation_of(run)["sites"]) == ["0"], "the one that has labels"
    finally:
        for process in everybody:
            process.terminate()
        for process in everybody:
            process.wait(60)
