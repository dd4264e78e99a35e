from __future__ import annotations

import hashlib
import io
import zipfile

import pytest

pytest.importorskip("flwr")

from flwr.cli.build import build_fab_from_disk
from flwr.common.config import get_fab_config

from fedsemi.deployment.bundle import check_bundle, delete_bundles, make_bundle
from fedsemi.errors import ProtocolError

_CONFIG = {"plan": "{}", "ticket": "1"}


def test_the_bundle_holds_no_code_and_is_one_that_flower_accepts():
    with zipfile.ZipFile(io.BytesIO(make_bundle())) as archive:
        assert archive.namelist() == ["pyproject.toml", ".info/CONTENT"]
        assert archive.testzip() is None
    app = get_fab_config(make_bundle())["tool"]["flwr"]["app"]
    assert app["config"].keys() == _CONFIG.keys()


def test_every_machine_makes_the_same_bundle():
    """A site with a bundle that differs by a byte would refuse all runs."""
    digest = hashlib.sha256(make_bundle()).hexdigest()
    assert digest == "3afdddf6fe0c92b65d8953ad54e23d781318a09182164dd64edbb990d66f7a79"


def test_the_bundle_of_this_release_passes():
    check_bundle(make_bundle(), _CONFIG)


@pytest.mark.filterwarnings("ignore:GitWildMatch")
def test_a_bundle_with_code_is_refused(tmp_path):
    """Also one that has the same name, version and settings."""
    with zipfile.ZipFile(io.BytesIO(make_bundle())) as archive:
        (tmp_path / "pyproject.toml").write_bytes(archive.read("pyproject.toml"))
    (tmp_path / "installed.py").write_text("raise SystemExit('executed')")
    with pytest.raises(ProtocolError, match=r"FS5021 .*bundle of its own.*nothing"):
        check_bundle(build_fab_from_disk(tmp_path), _CONFIG)


@pytest.mark.parametrize("content", [b"", b"PK", make_bundle() + b"\0"])
def test_a_bundle_that_differs_by_a_byte_is_refused(content):
    with pytest.raises(ProtocolError, match="FS5021"):
        check_bundle(content, _CONFIG)


@pytest.mark.parametrize(
    "config",
    [{}, {"plan": "{}"}, _CONFIG | {"folder": "/etc"}, {"plan": "{}", "ticket": 1}],
)
def test_settings_that_are_not_those_of_a_run_are_refused(config):
    with pytest.raises(ProtocolError, match=r"FS5021 .*its settings are"):
        check_bundle(make_bundle(), config)


def test_bundles_of_earlier_runs_are_deleted(tmp_path):
    old = tmp_path / "apps" / "someone.app.1.0.0.deadbeef" / "client.py"
    old.parent.mkdir(parents=True)
    old.write_text("")
    (tmp_path / "state.db").write_text("")
    delete_bundles(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["state.db"]
