"""The process of a site, after it has carried out a task, knows no server's code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from fedsemi.cli.deployment import deal_out
from fedsemi.simulation.build import Simulation

_SITE = """
import sys
from pathlib import Path
import fedsemi.deployment.site.warm_node          # what `fedsemi site` starts
from fedsemi.config.blueprint import read_blueprint
from fedsemi.data.site import read_site
from fedsemi.deployment.codec import Order
from fedsemi.deployment.site.agreement import Agreement, memory_folder
from fedsemi.deployment.site.desk import Desk
from fedsemi.deployment.site.memory_store import MemoryStore
from fedsemi.seeds import seed_of

folder, plan = Path(sys.argv[1]), Path(sys.argv[2])
blueprint, site = read_blueprint(plan.read_bytes()), read_site(folder)
agreement = Agreement(folder, blueprint, site)
agreement.settle()
store = MemoryStore(memory_folder(folder, blueprint))
desk = Desk(blueprint, site, store, agreement=agreement)
method = blueprint.method(blueprint.experiment.stages[1])
seed = seed_of(blueprint.experiment.seed, "stage", 1)
state = method.init(blueprint.initial_weights(), [site.client.info], seed)
update = desk.carry_out(Order(method.plan(state)[0], 1, 0))
assert update.weights
print("\\n".join(name for name in sys.modules if name.startswith("fedsemi")))
"""
_FOREIGN = (
    "fedsemi.server.",
    "fedsemi.simulation.",
    "fedsemi.evidence.",
    "fedsemi.report.",
    "fedsemi.valuation.",
    "fedsemi.cli.",
    "fedsemi.deployment.coordinator.",
    "fedsemi.deployment.one_machine.",
)


def test_a_site_that_has_learned_has_loaded_neither_server_nor_truth(
    simulation: Simulation, tmp_path: Path
) -> None:
    deal_out(simulation, tmp_path)
    plan = tmp_path / "coordinator" / "plan.json"
    command = [sys.executable, "-c", _SITE, str(tmp_path / "site-1"), str(plan)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    loaded = found.stdout.split()
    assert "fedsemi.objectives.pseudo_label" in loaded  # it did learn
    assert [name for name in loaded if f"{name}.".startswith(_FOREIGN)] == []
