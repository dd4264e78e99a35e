"""What Flower's SecAgg+ takes for the same round, by the functions of its own.

One site goes through all its stages. What the server, or the other sites, do once for
each site in the same way is timed for one of them and counted for all: its Shamir
shares are plain Python, and a hundred sites' would take the better part of an hour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flwr.app import ConfigRecord
from flwr.client.mod.secure_aggregation.secaggplus_mod import (
    SecAggPlusState,
    _collect_masked_vectors,
    _setup,
    _share_keys,
)
from flwr.common import bytes_to_ndarray, ndarrays_to_parameters
from flwr.common.secure_aggregation.crypto.shamir import combine_shares, create_shares
from flwr.common.secure_aggregation.crypto.symmetric_encryption import (
    encrypt,
    generate_shared_key,
)
from flwr.common.secure_aggregation.ndarrays_arithmetic import (
    parameters_addition,
    parameters_mod,
    parameters_subtraction,
)
from flwr.common.secure_aggregation.quantization import dequantize
from flwr.common.secure_aggregation.secaggplus_constants import Key
from flwr.common.secure_aggregation.secaggplus_utils import (
    pseudo_rand_gen,
    share_keys_plaintext_concat,
)
from flwr.supercore.primitives.asymmetric import (
    bytes_to_public_key,
    generate_key_pairs,
    public_key_to_bytes,
)

from benchmarks.common import timed

_CLIP, _TARGET, _MODULUS, _WEIGHT = 8.0, 1 << 22, 1 << 32, 1000.0
"""As its workflow has them by default."""


@dataclass(frozen=True)
class Taken:
    """Bytes that a site sends, and processor seconds."""

    small_bytes: int
    model_bytes: int
    sharing: float
    masking: float
    server: float
    server_one_lost: float


def secagg_plus(num: int, size: int, threshold: float) -> Taken:
    """Measure one round in which each site shares with all others.

    Args:
        num: Sites.
        size: Numbers of the model.
        threshold: The part of the sites that must help to take masks off.
    """
    needed = math.ceil(threshold * num)
    state = SecAggPlusState()
    state.nid = 0
    setup = {
        Key.SAMPLE_NUMBER: num,
        Key.SHARE_NUMBER: num,
        Key.THRESHOLD: needed,
        Key.CLIPPING_RANGE: _CLIP,
        Key.TARGET_RANGE: _TARGET,
        Key.MOD_RANGE: _MODULUS,
        Key.MAX_WEIGHT: _WEIGHT,
    }
    begun, told = timed(lambda: _setup(state, ConfigRecord(setup)))
    others = {i: (generate_key_pairs(), generate_key_pairs()) for i in range(1, num)}
    keys = {"0": [told[Key.PUBLIC_KEY_1], told[Key.PUBLIC_KEY_2]]}
    for i, ((_, first), (_, second)) in others.items():
        keys[str(i)] = [public_key_to_bytes(first), public_key_to_bytes(second)]
    shared, sealed = timed(lambda: _share_keys(state, ConfigRecord(keys)))
    letters = ConfigRecord(_letters(state, others))
    model = ndarrays_to_parameters([np.zeros(size, np.float32)])
    masking, sent = timed(lambda: _collect_masked_vectors(state, letters, 100, model))
    _, vector = sent[Key.MASKED_PARAMETERS]  # the factor, and what is multiplied
    # Public keys, sealed shares, and one share of each site when masks are taken off.
    small = sum(map(len, keys["0"])) + sum(map(len, sealed[Key.CIPHERTEXT_LIST]))
    small += num * len(state.rd_seed_share_dict[0])
    server = _server(state, vector, num, needed, size)
    return Taken(small, len(vector), begun + shared, masking, *server)


def _letters(state: Any, others: Any) -> dict[str, Any]:
    """Write what other sites send to the first: shares as long as its own."""
    own, pair = state.rd_seed_share_dict[0], state.sk1_share_dict[0]
    there = bytes_to_public_key(state.pk2)
    return {
        Key.SOURCE_LIST: list(others),
        Key.CIPHERTEXT_LIST: [
            encrypt(
                generate_shared_key(second, there),
                share_keys_plaintext_concat(i, 0, own, pair),
            )
            for i, (_, (second, _)) in others.items()
        ],
    }


def _server(
    state: Any, vector: bytes, num: int, needed: int, size: int
) -> tuple[float, float]:
    """Add vectors up and take masks off: with none, and with one site lost."""
    total = [bytes_to_ndarray(vector)]
    adding, _ = timed(lambda: parameters_addition(total, [bytes_to_ndarray(vector)]))
    own = create_shares(state.rd_seed, needed, num)
    pair = create_shares(state.sk1, needed, num)
    finding, secret = timed(lambda: combine_shares(own))
    finding_pair, _ = timed(lambda: combine_shares(pair[1:]))
    shape = [(size,)]
    taking, _ = timed(
        lambda: parameters_subtraction(total, pseudo_rand_gen(secret, _MODULUS, shape))
    )
    closing, _ = timed(
        lambda: dequantize(parameters_mod(total, _MODULUS), _CLIP, _TARGET)
    )
    none_lost = num * (adding + finding + taking) + closing
    left = num - 1
    one_lost = left * (adding + finding + 2 * taking) + finding_pair + closing
    return none_lost, one_lost
