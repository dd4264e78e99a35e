"""What an MLflow server is told, and that no run waits for one."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fedsemi.errors import ConfigError
from fedsemi.report.run import read_run
from fedsemi.use import mlflow_sink
from fedsemi.use.mlflow_sink import require_mlflow, save_mlflow, told_to_mlflow


class Server:
    """Stands for MLflow: its client, and what that was given."""

    def __init__(self) -> None:
        self.metrics: dict[str, dict[int, float]] = defaultdict(dict)
        self.params: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.status, self.name, self.largest = "RUNNING", "", 0
        self.down = 0
        """So many requests are refused."""

    def client(self, address: str) -> Server:
        assert address == "http://user:secret@ml.example.org"
        return self

    def get_experiment_by_name(self, name: str) -> None:
        if self.down:
            self.down -= 1
            raise RuntimeError("connection refused\nwith a long trace")

    def create_experiment(self, name: str) -> str:
        return "1"

    def create_run(self, experiment: str, run_name: str, tags: Any) -> Any:
        self.name = run_name
        return SimpleNamespace(info=SimpleNamespace(run_id="r"))

    def log_batch(self, run: str, metrics: Any = (), params: Any = ()) -> None:
        self.largest = max(self.largest, len(metrics), len(params))
        for key, value, _, step in metrics:
            self.metrics[key][step] = value
        self.params |= dict(params)

    def log_text(self, run: str, text: str, path: str) -> None:
        self.texts[path] = text

    def set_terminated(self, run: str, status: str) -> None:
        self.status = status


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    found = Server()
    module, entities = ModuleType("mlflow"), ModuleType("mlflow.entities")
    module.MlflowClient = found.client  # type: ignore[attr-defined]
    entities.Metric = lambda *values: values  # type: ignore[attr-defined]
    entities.Param = lambda *values: values  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", module)
    monkeypatch.setitem(sys.modules, "mlflow.entities", entities)
    address = "http://user:secret@ml.example.org"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    return found


def steps(run: Path) -> list[Any]:
    return [SimpleNamespace(record=record) for record in read_run(run).records]


def test_a_run_is_logged_with_settings_rounds_and_card(
    real_run: Path, server: Server
) -> None:
    run = read_run(real_run)
    where = save_mlflow(run)
    assert "secret" not in where and "ml.example.org" in where
    values = [record.test.accuracy for record in run.records]
    assert server.metrics["test/accuracy"] == dict(enumerate(values, start=1))
    assert list(server.metrics["contribution/client 3"]) == [3, 4]
    assert server.params["stages.1.method"] == "semianagg"
    assert server.texts["model-card.md"].startswith("# Model card: small")
    assert (server.name, server.status) == ("small", "FINISHED")
    assert server.largest <= 100, "MLflow takes no more at once"


def test_rounds_are_logged_while_a_run_goes_on(real_run: Path, server: Server) -> None:
    said: list[str] = []
    passed = list(told_to_mlflow(iter(steps(real_run)), real_run, said.append))
    assert len(passed) == 4 and said == []
    assert list(server.metrics["test/accuracy"]) == [1, 2, 3, 4]
    assert server.status == "FINISHED"


def test_a_server_that_is_down_for_a_while_gets_all_rounds(
    real_run: Path, server: Server
) -> None:
    server.down = 2
    said: list[str] = []
    list(told_to_mlflow(iter(steps(real_run)), real_run, said.append))
    (line,) = said
    assert line.startswith("FS4212 MLflow at ml.example.org cannot be told: connection")
    assert "trace" not in line and "secret" not in line
    assert list(server.metrics["test/accuracy"]) == [1, 2, 3, 4]


def test_a_run_without_a_server_goes_on_and_says_what_to_do(
    real_run: Path, server: Server
) -> None:
    server.down = 1000
    said: list[str] = []
    passed = list(told_to_mlflow(iter(steps(real_run)), real_run, said.append))
    assert len(passed) == 4
    assert "the run goes on" in said[0]
    assert "--format mlflow` sends the whole run" in said[1]


def test_a_server_that_hangs_holds_nobody_up(
    real_run: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from threading import Event

    forever = Event()
    monkeypatch.setattr(server, "create_experiment", lambda _: forever.wait())
    monkeypatch.setattr(mlflow_sink, "_PATIENCE", 0.1)
    said: list[str] = []
    assert len(list(told_to_mlflow(iter(steps(real_run)), real_run, said.append))) == 4
    assert "did not get all rounds" in said[0]
    forever.set()


def test_a_run_that_is_stopped_is_not_called_finished(
    real_run: Path, server: Server
) -> None:
    closed: list[bool] = []

    def trained():
        try:
            yield from steps(real_run)
        finally:
            closed.append(True)

    some = told_to_mlflow(trained(), real_run, print)
    next(some)
    some.close()  # type: ignore[attr-defined]
    assert server.status == "KILLED" and closed == [True]


def test_an_export_to_no_server_is_an_error_in_one_line(
    real_run: Path, server: Server
) -> None:
    server.down = 1
    with pytest.raises(ConfigError, match="connection refused") as error:
        save_mlflow(read_run(real_run))
    assert error.value.code == "FS4211" and "secret" not in str(error.value)


def test_without_an_address_nothing_begins(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    with pytest.raises(ConfigError, match="MLFLOW_TRACKING_URI"):
        require_mlflow()


def test_without_the_package_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ConfigError, match=r"fedsemi\[mlflow\]"):
        require_mlflow()
