from __future__ import annotations

import os
import stat
import subprocess
import sys
import time

import pytest

from fedsemi.deployment import processes
from fedsemi.errors import ConfigError


def test_a_process_that_ended_is_not_alive():
    ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
    ended.wait()
    assert processes.is_alive(os.getpid())
    assert not processes.is_alive(ended.pid)


def test_a_free_port_is_not_open():
    assert not processes.is_open("127.0.0.1", processes.free_port())


def test_flower_keeps_its_files_in_its_home_and_calls_nobody(tmp_path):
    found = processes.environment(tmp_path / "flower")
    assert found["FLWR_HOME"] == str(tmp_path / "flower")
    assert found["FLWR_TELEMETRY_ENABLED"] == "0"
    assert found["OMP_NUM_THREADS"] == "1"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can do that")
def test_a_child_dies_with_its_parent(tmp_path):
    child = (
        "import time; from fedsemi.deployment.processes import die_with_parent; "
        f"die_with_parent(9); open({str(tmp_path / 'up')!r}, 'w'); time.sleep(600)"
    )
    parent = (
        "import subprocess, sys; "
        f"print(subprocess.Popen([sys.executable, '-c', {child!r}]).pid, flush=True); "
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        pid = int(process.stdout.readline())
        while not (tmp_path / "up").exists():
            time.sleep(0.05)
        process.kill()
    for _ in range(600):
        if not processes.is_alive(pid):
            return
        time.sleep(0.05)
    os.kill(pid, 9)
    pytest.fail("the child outlived its parent")


def test_a_program_of_flower_that_is_missing_is_named_with_the_remedy():
    with pytest.raises(ConfigError, match=r"FS5004 .*flower-none.*pip install"):
        processes.program("flower-none")


def test_only_this_user_can_look_into_flowers_folder(tmp_path):
    home = tmp_path / "flower"
    home.mkdir(mode=0o755)
    processes.environment(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_a_follower_returns_each_new_line_once(tmp_path):
    log = tmp_path / "log"
    processes.add_line(log, "before")
    follower = processes.Follower(log)
    assert follower.lines() == []
    processes.add_line(log, "one")
    processes.add_line(log, "two\nlines and an \x1b[31mescape")
    assert follower.lines() == ["one", r"two\nlines and an \x1b[31mescape"]
    assert follower.lines() == []
    assert processes.Follower(tmp_path / "none").lines() == []
