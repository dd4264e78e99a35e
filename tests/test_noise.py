"""Noise that is Gaussian, the same for the same values, and nobody else's to know."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from fedsemi.errors import StorageError
from fedsemi.noise import SECRET, secret_of, shortened, with_noise

ZEROS = np.zeros(100_001)


def test_the_noise_is_gaussian_of_the_deviation_asked_for() -> None:
    noise = with_noise(ZEROS, 3.0, b"key", "test")
    assert stats.kstest(noise / 3.0, "norm").pvalue > 0.01
    assert abs(np.corrcoef(noise[:50_000], noise[50_000:100_000])[0, 1]) < 0.02
    assert (with_noise(ZEROS, 0.0, b"key") == 0).all()


def test_the_same_values_have_the_same_noise_again() -> None:
    first = with_noise(ZEROS, 1.0, b"key", "sum", 0, 3)
    assert (first == with_noise(ZEROS.copy(), 1.0, b"key", "sum", 0, 3)).all()


@pytest.mark.parametrize(
    ("values", "key", "purpose"),
    [
        (ZEROS, b"another key", ("sum", 0, 3)),
        (ZEROS, b"key", ("sum", 0, 4)),
        (ZEROS, b"key", ("sum", 1, 3)),
        (ZEROS, b"key", ("sum", "0", 3)),
        (ZEROS + 1e-12, b"key", ("sum", 0, 3)),
    ],
)
def test_another_key_purpose_or_value_has_other_noise(values, key, purpose) -> None:
    first = with_noise(ZEROS, 1.0, b"key", "sum", 0, 3)
    other = with_noise(values, 1.0, key, *purpose) - values
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.02


# A busy machine draws slowly; nothing here depends on how fast.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(1e-3, 1e3))
def test_nothing_is_longer_than_it_may_be(values, longest) -> None:
    assert np.linalg.norm(shortened(np.array(values), longest)) <= longest * (1 + 1e-9)


def test_a_secret_is_made_once_for_this_user_alone(tmp_path: Path) -> None:
    secret = secret_of(tmp_path, "a plan")
    assert len(secret) == 32 and secret_of(tmp_path, "a plan") == secret
    assert stat.S_IMODE((tmp_path / SECRET).stat().st_mode) == 0o600
    (tmp_path / "other").mkdir()
    assert secret_of(tmp_path / "other", "a plan") != secret
    (tmp_path / SECRET).write_bytes(b"short")
    with pytest.raises(StorageError, match="FS6104"):
        secret_of(tmp_path, "a plan")


def test_all_who_ask_at_once_find_the_same_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            folder = tmp_path / str(number)
            folder.mkdir()
            found = pool.map(secret_of, [folder] * 8, ["a plan"] * 8)
            assert len(set(found)) == 1


def test_plans_that_differ_in_the_size_of_noise_alone_share_none_of_it(
    tmp_path: Path,
) -> None:
    """Of values with the same noise in two sizes both could be worked out."""
    one, other = (secret_of(tmp_path, plan) for plan in ("a plan", "another"))
    small = with_noise(ZEROS, 1.0, one, "part", 7)
    large = with_noise(ZEROS, 1.1, other, "part", 7)
    assert abs(np.corrcoef(small, large)[0, 1]) < 0.02
