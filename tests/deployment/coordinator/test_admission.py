from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

pytest.importorskip("flwr")

from cryptography.hazmat.primitives.serialization import load_ssh_private_key

from fedsemi.deployment.certificates import make_certificates, new_site_key
from fedsemi.deployment.coordinator.admission import admit, retire
from fedsemi.deployment.coordinator.guests import EnrolledGuests
from fedsemi.deployment.coordinator.members import Members
from fedsemi.deployment.coordinator.register import agreed_counts, read_enrolled
from fedsemi.deployment.site.greeting import signed
from fedsemi.errors import ConfigError

from ..conftest import tiny


@pytest.fixture
def coordinator(tmp_path) -> Path:
    sites = [tmp_path / f"site-{number}" for number in range(2)]
    make_certificates(tmp_path / "coordinator", sites, ["localhost"])
    return tmp_path / "coordinator"


def _scope(site: Path):
    key = load_ssh_private_key((site / "keys/site.key").read_bytes(), None)
    headers = signed(key, time.time())
    return {"headers": [(n.encode(), v.encode()) for n, v in headers.items()]}


def _verdict(guests, site):
    return guests.verdict(_scope(site), time.time())


def test_who_is_admitted_enters_at_once_and_who_is_retired_no_more(
    coordinator, tmp_path
):
    guests = EnrolledGuests(coordinator)
    public = new_site_key(tmp_path / "site-2")
    assert _verdict(guests, tmp_path / "site-2") == "key"
    assert admit(coordinator, 2, public, (5, 7)) is False  # no server runs here
    assert agreed_counts(coordinator, 2) == (5, 7)
    assert _verdict(guests, tmp_path / "site-2") == "welcome"
    retire(coordinator, 1)
    assert _verdict(guests, tmp_path / "site-1") == "key"
    assert _verdict(guests, tmp_path / "site-0") == "welcome"
    assert set(read_enrolled(coordinator)) == {0, 2}
    assert Members(coordinator).absent()[1].for_good
    assert (coordinator / "retired/site-1.pub").exists()


def test_a_strange_file_among_the_keys_lets_nobody_in_or_out(coordinator, tmp_path):
    guests = EnrolledGuests(coordinator)
    (coordinator / "enrolled/site-7.pub").write_text("no key")
    assert _verdict(guests, tmp_path / "site-0") == "welcome"
    public = new_site_key(tmp_path / "site-2")
    with pytest.raises(ConfigError, match="FS5030"):
        admit(coordinator, 2, public, None)
    assert _verdict(guests, tmp_path / "site-2") == "key"


def test_a_key_that_is_overwritten_in_place_counts_for_whose_it_is_now(
    coordinator, tmp_path
):
    guests = EnrolledGuests(coordinator)
    path = coordinator / "enrolled/site-1.pub"
    old = path.stat()
    new = new_site_key(tmp_path / "site-2").read_bytes()
    assert len(new) == old.st_size
    path.write_bytes(new)  # which the folder's own time does not tell
    assert _verdict(guests, tmp_path / "site-1") == "key"
    assert _verdict(guests, tmp_path / "site-2") == "welcome"
    path.write_bytes((tmp_path / "site-1/keys/site.pub").read_bytes())
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert _verdict(guests, tmp_path / "site-1") == "welcome"
    assert _verdict(guests, tmp_path / "site-2") == "key"


def test_a_strange_file_keeps_no_key_welcome_that_is_gone(
    coordinator, tmp_path, caplog
):
    guests = EnrolledGuests(coordinator)
    strange = coordinator / "enrolled/notes.pub"
    strange.write_text("no key")
    retire(coordinator, 1)
    assert _verdict(guests, tmp_path / "site-1") == "key"
    assert _verdict(guests, tmp_path / "site-0") == "welcome"
    (said,) = caplog.messages  # and not with every request
    assert "FS5030" in said and "notes.pub" in said
    replaced = new_site_key(tmp_path / "site-2").read_bytes()
    (coordinator / "enrolled/site-0.pub").write_bytes(replaced)
    assert _verdict(guests, tmp_path / "site-0") == "key"
    assert _verdict(guests, tmp_path / "site-2") == "key"
    strange.unlink()
    assert _verdict(guests, tmp_path / "site-2") == "welcome"


def test_a_key_that_was_only_touched_stays_welcome_beside_a_strange_file(
    coordinator, tmp_path
):
    guests = EnrolledGuests(coordinator)
    (coordinator / "enrolled/notes.pub").symlink_to(tmp_path / "nowhere")
    (coordinator / "enrolled/site-0.pub").touch()
    assert _verdict(guests, tmp_path / "site-0") == "welcome"


def test_who_was_retired_is_let_in_again_with_its_key(coordinator, tmp_path):
    retire(coordinator, 1)
    with pytest.raises(ConfigError, match="FS5045 site 1 has no key"):
        admit(coordinator, 1, None, None)
    admit(coordinator, 1, coordinator / "retired/site-1.pub", None)
    assert Members(coordinator).absent() == {}
    assert set(read_enrolled(coordinator)) == {0, 1}


def test_a_key_belongs_to_one_site_and_a_site_has_one_key(coordinator, tmp_path):
    ours, new = tmp_path / "site-0/keys/site.pub", new_site_key(tmp_path / "site-2")
    with pytest.raises(ConfigError, match=r"FS5045 .* is the key of site 0"):
        admit(coordinator, 5, ours, None)
    with pytest.raises(ConfigError, match=r"FS5045 .* is not its enrolled key"):
        admit(coordinator, 0, new, None)
    admit(coordinator, 0, ours, None)
    (tmp_path / "strange.pub").write_text("ssh-rsa AAAA")
    with pytest.raises(ConfigError, match="FS5030"):
        admit(coordinator, 6, tmp_path / "strange.pub", None)
    assert set(read_enrolled(coordinator)) == {0, 1}


def test_nobody_is_retired_who_is_not_there(coordinator):
    with pytest.raises(ConfigError, match="FS5045 site 9 is not enrolled"):
        retire(coordinator, 9)


def test_a_masked_run_takes_nobody_in(coordinator, tmp_path):
    public = new_site_key(tmp_path / "site-2")
    plan = tiny(privacy={"masked": True}).as_json()
    (coordinator / "plan.json").write_text(plan)
    (coordinator / "run" / "ckpt-000001").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"FS5044 .*peers"):
        admit(coordinator, 2, public, None)
    (coordinator / "run" / "summary.json").write_text(json.dumps({}))
    admit(coordinator, 2, public, None)  # the run is over
