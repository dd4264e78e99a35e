"""What holds pictures, keys or memories is nobody else's, from the moment it exists."""

from __future__ import annotations

import os
import platform
import stat
from pathlib import Path

import pytest
import torch

from fedsemi.data.dataset import ImageSet
from fedsemi.data.site import Site, write_site, write_test_set
from fedsemi.errors import CannotCreate, StorageError
from fedsemi.storage import append, cut, make_folder, replacing, write_whole


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def born(monkeypatch):
    """Note each file and folder with the mode that it has when it is made."""
    modes: list[tuple[Path, int]] = []
    really_open, really_mkdir = os.open, os.mkdir

    def note_file(path, flags, *more, **named):
        new = flags & os.O_CREAT and not os.path.lexists(path)
        descriptor = really_open(path, flags, *more, **named)
        if new:
            made = stat.S_IMODE(os.fstat(descriptor).st_mode)
            modes.append((Path(path), made))
        return descriptor

    def note_folder(path, *more, **named):
        really_mkdir(path, *more, **named)
        modes.append((Path(path), mode(Path(path))))

    monkeypatch.setattr(os, "open", note_file)
    monkeypatch.setattr(os, "mkdir", note_folder)
    old = os.umask(0o022)
    yield modes
    os.umask(old)


def everything(folder: Path) -> list[Path]:
    return [folder, *folder.rglob("*")]


def test_pictures_are_private_from_the_moment_they_exist(tmp_path, born, make_client):
    held_out = ImageSet(
        torch.zeros(1, 3, 8, 8, dtype=torch.uint8), torch.zeros(1).long()
    )
    client = make_client(labeled=4, unlabeled=4)
    write_site(tmp_path / "site-0", Site(client, ("a", "b", "c"), held_out))
    write_test_set(tmp_path / "coordinator", held_out)
    pictures = [(path, m) for path, m in born if "safetensors" in path.name]
    assert [m for _, m in pictures] == [0o600, 0o600]
    folders = [m for path, m in born if path.is_dir()]
    assert folders == [0o700, 0o700]


def test_keys_are_private_from_the_moment_they_exist(tmp_path, born):
    pytest.importorskip("flwr")
    from fedsemi.deployment.certificates import make_certificates

    make_certificates(tmp_path / "coordinator", [tmp_path / "site-0"], ["127.0.0.1"])
    keys = [m for path, m in born if ".key." in path.name and ".pub" not in path.name]
    assert keys == [0o600, 0o600]
    assert mode(tmp_path / "coordinator" / "keys" / "server.key") == 0o600
    assert mode(tmp_path / "site-0" / "keys" / "site.key") == 0o600
    for name in ("coordinator", "coordinator/keys", "site-0", "site-0/keys"):
        assert mode(tmp_path / name) == 0o700


def test_memories_are_private_from_the_moment_they_exist(tmp_path, born):
    pytest.importorskip("flwr")
    from fedsemi.deployment.site.memory_store import MemoryStore

    store = MemoryStore(tmp_path / "memory")
    store.put(0, 0, 1, {"pseudo_label": torch.zeros(3)})
    assert [m for _, m in born] == [0o700, 0o600]
    assert [mode(path) for path in everything(tmp_path / "memory")] == [0o700, 0o600]


def test_what_flower_writes_is_private(tmp_path):
    """Its database holds tokens and messages; it knows no modes of its own."""
    pytest.importorskip("flwr")
    import sys

    from fedsemi.deployment import processes

    home = tmp_path / "flower"
    home.mkdir(mode=0o755)
    old = os.umask(0o022)
    try:
        code = f"open({str(home / 'state.db')!r}, 'w').write('token')"
        processes.start("program", [sys.executable, "-c", code], home).wait(60)
    finally:
        os.umask(old)
    assert {path.name: mode(path) for path in everything(home)} == {
        "flower": 0o700,
        "state.db": 0o600,
        "program.log": 0o600,
    }


def test_checkpoints_are_private_and_models_follow_the_umask(real_run):
    umask = os.umask(0)
    os.umask(umask)
    assert {mode(path) for path in real_run.glob("ckpt-*")} == {0o600}
    for name in ("model.safetensors", "metrics.jsonl", "summary.json"):
        assert mode(real_run / name) == 0o644 & ~umask


def test_a_planted_link_at_the_temporary_name_is_not_written_through(tmp_path):
    victim, target = tmp_path / "victim", tmp_path / "site.safetensors"
    victim.write_text("precious")
    planted = f".site.safetensors.{platform.node()}.{os.getpid()}"
    (tmp_path / planted).symlink_to(victim)
    write_whole(target, b"pictures", private=True)
    assert victim.read_text() == "precious"
    assert (target.read_bytes(), mode(target)) == (b"pictures", 0o600)
    assert sorted(path.name for path in tmp_path.iterdir()) == [target.name, "victim"]


def test_a_link_planted_in_the_last_moment_stops_the_write(tmp_path, monkeypatch):
    """An attacker in a shared folder may be faster than the removal."""
    victim, target = tmp_path / "victim", tmp_path / "key"
    victim.write_text("precious")
    monkeypatch.setattr(
        "fedsemi.storage.remove", lambda partial: partial.symlink_to(victim)
    )
    with pytest.raises(StorageError, match=r"FS1201 cannot write .*File exists"):
        write_whole(target, b"secret", private=True)
    assert victim.read_text() == "precious"
    assert not target.exists()


def test_what_a_killed_process_of_the_same_number_left_is_in_nobodys_way(tmp_path):
    (tmp_path / f".file.{os.getpid()}").write_bytes(b"half of")
    with replacing(tmp_path / "file", 3) as sink:
        sink.write(b"all")
    assert (tmp_path / "file").read_bytes() == b"all"


@pytest.mark.parametrize("write", [lambda p: append(p, b"line"), lambda p: cut(p, 0)])
def test_a_log_is_not_written_through_a_link(tmp_path, write):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "metrics.jsonl").symlink_to(victim)
    with pytest.raises(StorageError, match="FS1201"):
        write(tmp_path / "metrics.jsonl")
    assert victim.read_text() == "precious"


def test_a_log_of_the_coordinator_is_private_and_not_written_through_a_link(tmp_path):
    pytest.importorskip("flwr")
    from fedsemi.deployment import processes

    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "coordinator.log").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        processes.add_line(tmp_path / "coordinator.log", "site 0 joined")
    assert victim.read_text() == "precious"
    processes.add_line(tmp_path / "refused.log", "run 1")
    assert mode(tmp_path / "refused.log") == 0o600


def test_a_folder_that_is_open_to_others_is_closed(tmp_path):
    folder = tmp_path / "site-0"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    assert mode(make_folder(folder, private=True)) == 0o700


def test_a_folder_that_cannot_be_closed_is_refused(tmp_path, monkeypatch):
    def somebody_elses(path, mode):
        raise PermissionError(1, "Operation not permitted")

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", somebody_elses)
    with pytest.raises(CannotCreate, match=r"FS1120 .*open to other users"):
        make_folder(tmp_path, private=True)
