"""Methods, learners and data sets from outside: found by name, or refused in a line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest
from fedsemi.simulation.conduct import conduct

from fedsemi.client.learners import LEARNERS
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError, FedSemiError, ProtocolError
from fedsemi.methods import METHODS
from fedsemi.plugins.registry import only
from fedsemi.simulation.build import build

RULE = """
from dataclasses import dataclass
from fedsemi.contributions import by_data_size
from fedsemi.methods.averaging import Averaging
from fedsemi.settings import Share

@dataclass(frozen=True)
class BySize(Averaging):
    '''A method of one's own.'''
    trust: Share = 0.5

    def contributions(self, updates):
        return by_data_size(updates)

class NoMethod:
    pass

@dataclass(frozen=True)
class NoSetup:
    trust: float = 1.0

class Unfinished(Averaging):
    pass
"""
LEARNER = """
from dataclasses import dataclass
from fedsemi.client.learners import LocalLearner
from fedsemi.objectives.supervised import Supervised

@dataclass(frozen=True)
class LabelsOnly(LocalLearner):
    '''A learner of one's own, without a use for unlabeled images.'''
    patience: int = 3

    def objective(self, bench, probe=None):
        return Supervised(bench)
"""

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write modules to a folder on the path."""
    monkeypatch.syspath_prepend(tmp_path)

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return written


def content(method: str, **settings: Any) -> dict[str, Any]:
    return {
        "data": {"name": "synthetic", "train_limit": 60, "test_limit": 8},
        "model": {"name": "resnet8", "width": 2},
        "partition": {"num_clients": 3, "min_size": 8},
        "stages": [{"method": method, "rounds": 1, **settings}],
    }


def test_a_method_in_a_file_is_named_by_module_and_class(write: Write) -> None:
    write("rule_a.py", RULE)
    experiment = make_experiment(content("rule_a:BySize", trust=0.25))
    (stage,) = experiment.stages
    assert stage.settings["trust"] == 0.25
    (*_, last) = conduct(build(experiment))
    assert last.state.round == 1


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"trusst": 1}, "FS4101 unknown key 'stages.0.trusst' (did you mean 'trust'?)"),
        ({"trust": 2}, "FS4102 'stages.0.trust' is 2"),
        ({"trust": "much"}, "FS4102 'stages.0.trust' is 'much'"),
    ],
)
def test_its_settings_are_checked_as_ours_are(
    write: Write, settings: dict[str, Any], told: str
) -> None:
    write("rule_b.py", RULE)
    with pytest.raises(ConfigError) as caught:
        make_experiment(content("rule_b:BySize", **settings))
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("rule_c:NoMethod", "FS4161 the method 'rule_c:NoMethod' is no subclass of"),
        ("rule_c:NoSetup", "FS4161 the method 'rule_c:NoSetup' is no subclass of"),
        ("rule_c:Unfinished", "'rule_c:Unfinished' lacks contributions"),
        ("rule_c:Missing", "FS4160 the method 'rule_c:Missing' cannot be loaded"),
        (
            "rule_zz:BySize",
            "FS4160 the method 'rule_zz:BySize' cannot be loaded (Modul",
        ),
        ("torch:nn", "is no subclass of fedsemi.method.Method"),
        ("semianag", "did you mean 'semianagg'"),
    ],
)
def test_what_is_no_method_is_one_clear_line(
    write: Write, name: str, told: str
) -> None:
    write("rule_c.py", RULE)
    with pytest.raises(ConfigError) as caught:
        make_experiment(content(name))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_module_that_breaks_is_one_clear_line(write: Write) -> None:
    write("rule_d.py", "1 / 0")
    with pytest.raises(ConfigError, match=r"FS4160 .*ZeroDivisionError: division"):
        make_experiment(content("rule_d:X"))


def test_fields_that_no_config_can_hold_are_one_clear_line(write: Write) -> None:
    write("rule_e.py", RULE.replace("trust: Share = 0.5", "trust: 'Unheard' = None"))
    with pytest.raises(ConfigError, match="FS4161 the settings of 'rule_e:BySize'"):
        make_experiment(content("rule_e:BySize"))


def test_a_learner_in_a_file_goes_with_a_method_of_ours(write: Write) -> None:
    write("learner_a.py", LEARNER)
    learner = {"name": "learner_a:LabelsOnly", "patience": 5}
    experiment = make_experiment(content("semianagg", learner=learner))
    assert experiment.stages[0].settings["learner"] == learner
    simulation = build(experiment)
    method: Any = simulation.method(experiment.stages[0])
    assert (type(method.learner).__name__, method.learner.patience) == ("LabelsOnly", 5)
    # What was decided names the experiment, what was left alone does not.
    usual = content("semianagg", learner={"name": "learner_a:LabelsOnly"})
    spelled = content("semianagg", learner={**learner, "patience": 3})
    assert make_experiment(usual).sha256 == make_experiment(spelled).sha256
    assert make_experiment(usual).sha256 != experiment.sha256


@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (
            {"name": "learner_b:LabelsOnly", "patienc": 1},
            "FS4101 unknown key 'stages.0.learner.patienc' (did you mean 'patience'?)",
        ),
        (
            {"name": "learner_b:LabelsOnly", "patience": 1.5},
            "FS4102 'stages.0.learner.patience' is 1.5",
        ),
        ({"name": "learner_b:Missing"}, "FS4160 the learner 'learner_b:Missing'"),
        ({"name": "math:pi"}, "FS4161 the learner 'math:pi' is no subclass of"),
    ],
)
def test_a_slip_in_a_learner_from_outside_is_explained(
    write: Write, learner: dict[str, Any], told: str
) -> None:
    write("learner_b.py", LEARNER)
    with pytest.raises(ConfigError) as caught:
        make_experiment(content("fedavg", learner=learner))
    assert str(caught.value).startswith(told)


def test_a_package_announces_by_entry_points(write: Write) -> None:
    write("announced_rule.py", RULE)
    write("announced-1.5.dist-info/METADATA", "Name: announced\nVersion: 1.5\n")
    entries = """\
        [fedsemi.methods]
        by-size = announced_rule:BySize
        broken = announced_rule:Missing
        """
    write("announced-1.5.dist-info/entry_points.txt", entries)
    assert {"by-size", "broken"} < set(METHODS)
    experiment = make_experiment(content("by-size", trust=1.0))
    assert experiment.stages[0].method == "by-size"
    found = METHODS.identity("by-size")
    assert found is not None
    assert (found.distribution, found.version) == ("announced", "1.5")
    with pytest.raises(ConfigError, match="FS4160 the method 'broken' cannot be"):
        make_experiment(content("broken"))
    with pytest.raises(ConfigError, match="did you mean 'by-size'"):
        make_experiment(content("by-siz"))


def test_what_is_added_in_this_process_needs_no_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(METHODS, "_added", {})
    module: Any = ModuleType("nowhere")
    monkeypatch.setitem(sys.modules, "nowhere", module)
    exec(RULE, vars(module))
    name = METHODS.add(module.BySize)
    assert name == "nowhere:BySize"
    assert METHODS[name] is METHODS.added[name] is module.BySize
    with pytest.raises(ConfigError, match="FS4161"):
        METHODS.add(module.NoMethod)


def test_nothing_is_imported_that_is_not_allowed(write: Write) -> None:
    trace = write("rule_f.py", "open(__file__ + '.ran', 'w').close()\n" + RULE)
    with only(frozenset()), pytest.raises(ProtocolError, match=r"FS2137 .*--allow"):
        make_experiment(content("rule_f:BySize"))
    assert not trace.with_name("rule_f.py.ran").exists()
    with only(frozenset({"rule_f:BySize"})):
        make_experiment(content("rule_f:BySize"))
        with pytest.raises(FedSemiError, match="FS2137"):
            LEARNERS["rule_f:Other"]
    assert trace.with_name("rule_f.py.ran").exists()


def test_an_identity_names_release_and_source(write: Write) -> None:
    path = write("rule_g.py", RULE)
    first = METHODS.identity("rule_g:BySize")
    assert first is not None
    assert first == METHODS.identity("rule_g:BySize")
    assert (first.kind, first.name) == ("method", "rule_g:BySize")
    assert (first.distribution, first.version, len(first.sha256)) == ("", "", 64)
    path.write_text(RULE + "# changed\n")
    changed = METHODS.identity("rule_g:BySize")
    assert changed is not None
    assert changed.sha256 != first.sha256
    assert METHODS.identity("semianagg") is None


def test_all_files_of_a_package_count(write: Write) -> None:
    write("rules_h/__init__.py", "")
    write("rules_h/rule.py", RULE)
    helper = write("rules_h/helper.py", "a = 1")
    before = METHODS.identity("rules_h.rule:BySize")
    helper.write_text("a = 2")
    after = METHODS.identity("rules_h.rule:BySize")
    assert before is not None
    assert after is not None
    assert before.sha256 != after.sha256
