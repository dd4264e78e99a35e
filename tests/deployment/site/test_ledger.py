"""A site's budget holds over all runs, and no kill makes an answer free."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fedsemi.accounting import cost, epsilon
from fedsemi.deployment.site.ledger import LEDGER, Ledger
from fedsemi.deployment.site.policy import POLICY, Policy, read_policy
from fedsemi.errors import ProtocolError, StorageError

_SPENDER = """
import sys
from pathlib import Path
from fedsemi.deployment.site.ledger import Ledger
from fedsemi.deployment.site.policy import read_policy
folder = Path(sys.argv[1])
ledger = Ledger(folder, read_policy(folder))
for number in range(10**9):
    ledger.charge(f"{sys.argv[2]} {number}", 0.01)
    print(number, flush=True)
"""


def ledger(folder: Path, budget: float | None = None) -> Ledger:
    if budget is not None:
        (folder / POLICY).write_text(f"[budget]\nepsilon = {budget}\ndelta = 1e-5\n")
    return Ledger(folder, read_policy(folder))


def test_costs_of_several_runs_add_up(tmp_path: Path) -> None:
    assert ledger(tmp_path).spent() == 0
    for number in range(3):
        ledger(tmp_path).charge(f"question {number}", cost(2.0), plan="a")
    assert ledger(tmp_path).spent() == epsilon(3 / 4, 1e-5)


def test_the_answer_that_would_exceed_the_budget_is_refused(tmp_path: Path) -> None:
    """Noise 10 costs 1/100: at δ = 1e-5 nine of them are ε = 1.132, ten 1.199."""
    book = ledger(tmp_path, budget=1.15)
    for number in range(9):
        assert book.charge(f"question {number}", 0.01) < 1.15
    with pytest.raises(ProtocolError, match=r"FS6103 .*budget\.epsilon .*line 2"):
        book.charge("question 9", 0.01)
    assert book.spent() == pytest.approx(epsilon(0.09, 1e-5)) and book.spent() < 1.15
    assert ledger(tmp_path, budget=1.3).charge("question 9", 0.01) > 1.15


def test_the_same_question_again_costs_nothing(tmp_path: Path) -> None:
    book = ledger(tmp_path, budget=1.0)
    first = book.charge("question", 0.01)
    assert all(book.charge("question", 0.01) == first for _ in range(100))
    assert len((tmp_path / LEDGER).read_text().splitlines()) == 1


def test_after_an_answer_without_noise_no_epsilon_holds(tmp_path: Path) -> None:
    ledger(tmp_path).charge("question", 0.01)
    assert ledger(tmp_path).charge("without noise", math.inf) == math.inf
    assert ledger(tmp_path).spent() == math.inf
    with pytest.raises(ProtocolError, match=r"FS6103 .*no ε holds.*moves .*ledger"):
        ledger(tmp_path, budget=1e5).charge("another", 0.01)


def test_noise_of_the_coordinator_is_none_against_it(tmp_path: Path) -> None:
    ledger(tmp_path).charge("question", 0.01, "public")
    assert ledger(tmp_path).spent() == math.inf
    (tmp_path / POLICY).write_text('[budget]\nagainst = "public"\n')
    assert ledger(tmp_path).spent() == epsilon(0.01, 1e-5)


def test_a_damaged_ledger_lets_nothing_through(tmp_path: Path) -> None:
    ledger(tmp_path).charge("question", 0.01)
    (tmp_path / LEDGER).write_bytes((tmp_path / LEDGER).read_bytes()[10:])
    with pytest.raises(StorageError, match="FS6104"):
        ledger(tmp_path).charge("another", 0.01)


def test_asking_all_at_once_does_not_exceed_the_budget(tmp_path: Path) -> None:
    ledger(tmp_path, budget=1.15)

    def charged(number: int) -> bool:
        try:
            ledger(tmp_path).charge(f"question {number}", 0.01)
        except ProtocolError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(charged, range(24))) == 9


@pytest.mark.slow
def test_what_was_charged_before_a_kill_stays_charged(tmp_path: Path) -> None:
    ledger(tmp_path, budget=1e5)
    acknowledged = 0
    for trial in range(3):
        command = [sys.executable, "-c", _SPENDER, str(tmp_path), str(trial)]
        spender = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert spender.stdout
        for _ in range(5 + trial):
            spender.stdout.readline()
            acknowledged += 1
        os.kill(spender.pid, signal.SIGKILL)
        spender.communicate()
    assert Ledger(tmp_path, Policy()).spent() >= epsilon(0.01 * acknowledged, 1e-5)
