"""What masks cost, for a network of eleven million numbers."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import torch

from benchmarks.common import Section, make_setup, timed
from benchmarks.secagg_plus import Taken, secagg_plus
from fedsemi.privacy.fixed_point import to_fixed, zeros
from fedsemi.privacy.identity import Unsigned
from fedsemi.privacy.mask_stream import add_mask
from fedsemi.privacy.model_sum import num_floats
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.server import SumSession
from fedsemi.privacy.site import SumSite
from fedsemi.privacy.vault import HeldVault
from fedsemi.weights import num_bytes, weighted_mean

_NONCE, _BOUND = bytes(32), bytes(32)
_CLAIMS = 11


def masks(times: int) -> Section:
    """Measure bytes and processor seconds of one site and of the server."""
    weights = make_setup("resnet18-cifar").model.build(0).state_dict()
    size, rules = num_floats(weights), Rules()
    rows = []
    for num in (10, 50, 100):
        plain = Taken(0, num_bytes(weights), 0, 0, *[_mean(weights, num)] * 2)
        rows.append(_row(num, "plain", plain))
        rows.append(_row(num, "masked", _ours(num, size)))
        flowers = secagg_plus(num, size, rules.threshold)
        rows.append(_row(num, "Flower's SecAgg+", flowers))
    return Section(
        "Masked sums",
        "One round of ResNet-18 (11 M numbers) for one site and for the server, in "
        "processor seconds on one core, without training and signatures. Flower's "
        "SecAgg+ shares with all other sites, too; what its server does for each site "
        f"is timed for one. One mask: ours {_one_mask(size):.3f} s.",
        [
            "sites",
            "",
            "a site sends: keys and shares",
            "its model",
            "a site: keys, shares",
            "a site: masking",
            "server: none lost",
            "server: one lost",
        ],
        rows,
    )


def _row(num: int, name: str, taken: Taken) -> list[str]:
    return [
        f"{num}",
        name,
        f"{taken.small_bytes / 1000:.0f} kB" if taken.small_bytes else "–",
        f"{taken.model_bytes / 1e6:.1f} MB",
        f"{taken.sharing:.2f} s" if taken.sharing else "–",
        f"{taken.masking:.2f} s" if taken.masking else "–",
        f"{taken.server:.1f} s",
        f"{taken.server_one_lost:.1f} s",
    ]


def _mean(weights: Any, num: int) -> float:
    shares = torch.full((num,), 1 / num, dtype=torch.float64)
    return timed(lambda: weighted_mean(weights, [weights] * num, shares))[0]


def _ours(num: int, size: int) -> Taken:
    sites = {
        i: SumSite(i, "a plan", Rules(), Unsigned(), HeldVault()) for i in range(num)
    }
    session = SumSession(Rules(), "a plan", 0, _NONCE)
    begun, first = timed(lambda: sites[0].begin(0, _NONCE, _BOUND))
    adverts = {i: site.begin(0, _NONCE, _BOUND) for i, site in sites.items()}
    session = session.with_adverts(adverts)
    shared, own = timed(lambda: sites[0].share(0, session.roster))
    sealed = {i: site.share(0, session.roster) for i, site in sites.items()}
    session = session.with_envelopes(sealed)
    received, _ = timed(lambda: sites[0].receive(0, session.envelopes_for(0)))
    for i, site in sites.items():
        site.receive(0, session.envelopes_for(i))
    sent = len(first.written()) + len(own.written())
    claims = to_fixed(np.ones(_CLAIMS), "claims")
    found = {i: s.claim(0, claims, _BOUND) for i, s in sites.items()}
    session = session.with_claims(found, _CLAIMS)
    session, opened = _agreed(sites, session, "claims")
    _sums(session, "claims", opened)
    sent += len(found[0].written()) + len(opened[0].written())
    numbers = to_fixed(np.zeros(size), "model")
    masking, one = timed(lambda: sites[0].mask(0, "model", numbers, _BOUND))
    sent += len(opened[0].written())
    # The server takes as long for any numbers, so that one site's stand for all.
    for i in range(1, num):
        sites[i].vault.write(_noted(sites[i], sites[0]))
    seconds = [_server(sites, session, num, lost, size) for lost in (0, 1)]
    return Taken(sent, one.nbytes, begun + shared + received, masking, *seconds)


def _noted(site: SumSite, like: SumSite) -> Any:
    """Let a site have masked the same numbers, without the time that it takes."""
    record, done = site.vault.read(), like.vault.read()
    assert record is not None and done is not None
    parts = {"among": done.among, "bounds": done.bounds, "digests": done.digests}
    return record.model_copy(update=parts)


def _server(sites: Any, session: SumSession, num: int, lost: int, size: int) -> float:
    """Let the last sites be lost, and take the masks off the sum of the others."""
    there = {i: sites[i] for i in range(num - lost)}
    for site in there.values():  # a second set, which a real site refuses
        record = site.vault.read()
        consents = {"claims": record.consents["claims"]}
        site.vault.write(record.model_copy(update={"consents": consents}))
        past = site.vault.past(0)
        site.vault.note(0, past.model_copy(update={"opened": {}}))
    numbers = dict.fromkeys(there, zeros("model", size))
    adding, session = timed(lambda: session.with_numbers("model", numbers, size))
    session, opened = _agreed(there, session, "model")
    return adding + timed(lambda: _sums(session, "model", opened))[0]


def _sums(session: SumSession, phase: Any, opened: Any) -> Any:
    secrets = session.secrets(phase, session.helpers(phase, opened))
    return session.opened(phase, secrets, _BOUND)


def _agreed(sites: Any, session: SumSession, phase: Any) -> tuple[SumSession, Any]:
    told = session.survivors_of(phase)
    signed = {i: s.consent(0, phase, told).signature for i, s in sites.items()}
    session = session.with_consents(phase, signed)
    consents = session.consents[phase]
    return session, {i: s.open(0, phase, consents) for i, s in sites.items()}


def _one_mask(size: int) -> float:
    total, key = zeros("model", size), secrets.token_bytes(32)
    return min(timed(lambda: add_mask(total, key))[0] for _ in range(3))
