"""Parts of Flower that it does not promise to keep, and that have moved before.

A new release of Flower is tried by running this file: each failure names what is gone
and who needs it.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

pytest.importorskip("flwr")

import fedsemi.deployment
from fedsemi.deployment import flower_names
from fedsemi.deployment.coordinator.front import FLEET, OPERATOR
from fedsemi.deployment.flower_names import (
    NAMES,
    PUBLIC,
    TRIED,
    changed,
    check_flower,
)
from fedsemi.errors import ConfigError

_PACKAGE = Path(fedsemi.deployment.__file__).parent
_ROOT = Path(__file__).parents[2]


def _imported() -> Iterator[tuple[str, str, str]]:
    """List what our modules import from Flower: module, name, who does."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("flwr"):
                for alias in node.names:
                    yield str(node.module), alias.name, path.name


def test_the_table_of_internals_is_complete():
    found: dict[str, set[str]] = {}
    for module, name, _ in _imported():
        if module not in PUBLIC:
            found.setdefault(module, set()).add(name)
    listed = {
        module: {path.split(".")[0] for path in wanted}
        for module, wanted in NAMES.items()
    }
    assert found == listed


@pytest.mark.parametrize("module", sorted(NAMES))
def test_flower_still_has_what_we_import(module):
    users = sorted({who for of, _, who in _imported() if of == module})
    gone = [text for text in changed() if text.startswith(f"{module}.")]
    gone += [text for text in changed() if text == f"{module} is gone"]
    assert not gone, f"used by {', '.join(users)}: {'; '.join(gone)}"


def test_the_connection_of_a_site_still_offers_eight_callbacks():
    """`Courier` takes them by their order."""
    from flwr.supernode.fleet_http_connection import http_request_response

    source = inspect.getsource(http_request_response)
    handed = source[source.index("            yield (") :].split(")")[0]
    assert [
        word.strip() for word in handed.split("(")[1].split(",") if word.strip()
    ] == [
        "node.node_id",
        "receive",
        "send",
        "get_run",
        "get_fab",
        "pull_object",
        "push_object",
        "confirm_message_received",
    ]


def test_a_flower_that_was_tried_is_taken_without_looking(monkeypatch):
    monkeypatch.setattr(flower_names, "version", lambda name: TRIED[-1])
    monkeypatch.setattr(flower_names, "changed", lambda: pytest.fail("it has looked"))
    check_flower()


def test_an_untried_flower_that_has_all_names_is_taken(monkeypatch):
    monkeypatch.setattr(flower_names, "version", lambda name: "9.9.0")
    check_flower()


def test_a_flower_that_lacks_a_name_is_refused_with_the_releases_tried(monkeypatch):
    wanted = {
        "flwr.app": {"Message": ("content", "nonsense"), "Nothing.at_all": ()},
        "flwr.moved": {"x": ()},
    }
    monkeypatch.setattr(flower_names, "NAMES", wanted)
    monkeypatch.setattr(flower_names, "version", lambda name: "9.9.0")
    assert list(changed()) == [
        "flwr.app.Message takes no nonsense",
        "flwr.app.Nothing.at_all is gone",
        "flwr.moved is gone",
    ]
    text = (
        rf"FS5040 Flower 9\.9\.0 .*{re.escape(TRIED[0])}.*nonsense and 2 more; install"
    )
    with pytest.raises(ConfigError, match=text):
        check_flower()


def test_a_missing_flower_is_named_with_the_remedy(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(flower_names, "version", missing)
    with pytest.raises(ConfigError, match=r"FS5004 .*pip install 'fedsemi\[flower\]'"):
        check_flower()


def test_the_pin_of_the_extra_and_the_releases_tried_agree():
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = project["optional-dependencies"]["flower"]
    (pin,) = [each for each in wanted if each.startswith("flwr")]
    lowest, beyond = re.fullmatch(
        r"flwr\[simulation\]>=([\d.]+),<([\d.]+)", pin
    ).groups()
    assert TRIED[0].startswith(lowest)
    assert TRIED[-1].startswith(f"1.{int(beyond.split('.')[1]) - 1}.")
    assert not [each for each in project["dependencies"] if "flwr" in each]


def test_a_grid_still_opens_its_client_in_the_way_that_we_extend():
    """`OperatorGrid` adds the secret to the interceptors of the client."""
    from flwr.superlink.grid import HttpGrid

    grid = HttpGrid("127.0.0.1:1", insecure=True, token="x")
    grid._connect()
    assert isinstance(grid._client._interceptors, tuple)
    assert hasattr(grid._retry_invoker, "max_tries")
    grid.close()


def test_the_settings_of_a_superlink_are_those_that_we_give():
    from flwr.superlink.config_loader import SuperLinkLifespanConfig

    given = ast.parse((_PACKAGE / "coordinator" / "link.py").read_text("utf-8"))
    names = {
        word.arg
        for node in ast.walk(given)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "SuperLinkLifespanConfig"
        for word in node.keywords
    }
    assert names == {
        field.name for field in dataclasses.fields(SuperLinkLifespanConfig)
    }


def test_the_routes_that_we_pass_are_routes_of_flower():
    from flwr.supercore.routers.runtime.router import router as runtime
    from flwr.superlink.routers.control import router as control
    from flwr.superlink.routers.fleet.router import router as fleet

    assert {route.path for route in runtime.routes + control.routes} >= OPERATOR
    # With keys, sites are registered by the coordinator, not by themselves.
    own = {"/v1/fleet/register-node", "/v1/fleet/unregister-node"}
    assert {route.path for route in fleet.routes} == FLEET | own
