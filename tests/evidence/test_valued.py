"""What clients were worth at the end, from the records of `fedsemi value`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.valued import FOLDER, worth_table

ROOT = Path(__file__).parents[2]


def measure(name: str, *values: float | None) -> dict[str, Any]:
    """Value clients, of whom client 0 alone has labels."""
    return {
        "name": name,
        "values": [
            {"client": client, "value": value}
            for client, value in enumerate(values)
            if value is not None
        ],
    }


def write(folder: Path, seed: int, **rhos: float | None) -> None:
    correlations: list[dict[str, Any]] = [
        {"a": "Contribution", "b": name.replace("_", " "), "clients": 9, "rho": rho}
        for name, rho in rhos.items()
    ]
    measures = [
        measure("Contribution", 0.5, 0.1, 0.3),
        measure("Data size", 9, 9, 5),
        measure("Shapley value", None, 0.1, 0.2 * seed - 0.2),
    ]
    text = json.dumps({"correlations": correlations, "measures": measures})
    (folder / f"{seed}.json").write_text(text)


def test_correlations_are_averaged_over_seeds_with_an_interval(tmp_path: Path) -> None:
    write(tmp_path, 1, Shapley_value=0.5, Data_size=0.1)
    write(tmp_path, 2, Shapley_value=0.7, Data_size=None)
    rows = worth_table(tmp_path).splitlines()
    # Half-width: t of one degree of freedom, 12.706, times 0.1414 / √2.
    assert rows[2] == (
        "| Contribution – Shapley value | +0.60 | −0.67 to +1.87 | +0.50, +0.70 |"
    )
    assert rows[3] == "| Contribution – Data size | +0.10 | – | +0.10, – |"
    # Client 2 has the larger share of both, and is worth less with the first seed.
    assert rows[-1] == (
        "2 seeds, 9 unlabeled sites each. How often the unlabeled site with the "
        "largest share is worth most, of 2: Shapley value 1. The others: all but that "
        "site."
    )


def test_the_order_of_the_others_is_looked_at_without_the_largest(
    tmp_path: Path,
) -> None:
    write(tmp_path, 1, Shapley_value=0.5)
    path = tmp_path / "1.json"
    record = json.loads(path.read_text())
    # Client 4 is first by both; of the rest the largest share is worth least.
    record["measures"] = [
        measure("Contribution", 0.5, 0.03, 0.02, 0.01, 0.2),
        measure("Data size", 9, 9, 9, 9, 9),
        measure("Shapley value", None, 0.1, 0.2, 0.3, 0.9),
    ]
    path.write_text(json.dumps(record))
    rows = worth_table(tmp_path).splitlines()
    assert rows[3] == "| Contribution – Shapley value, the others | −1.00 | – | −1.00 |"
    assert "Shapley value 1." in rows[-1]


def test_a_folder_without_records_says_so(tmp_path: Path) -> None:
    assert worth_table(tmp_path) == "Not run yet."


def test_what_was_valued_are_the_models_of_q5(medium: Profile) -> None:
    whole = QUESTIONS["q5"].settings[0]
    paths = {int(path.stem): path for path in (ROOT / FOLDER).glob("*.json")}
    assert sorted(paths) == [1, 2, 3, 4, 5]
    for seed, path in paths.items():
        key = job_of(whole, seed, medium).key
        run = ROOT / "results" / "medium" / "runs" / f"{key}.json"
        expected = json.loads(run.read_text())["model_sha256"]
        assert json.loads(path.read_text())["model_sha256"] == expected
