"""What travels in the steps of a masked sum: letters of the server, and the answers.

Each is a small JSON text with bytes in hexadecimal, checked field by field when it is
read; only the masked numbers themselves travel as tensors.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fedsemi.errors import ProtocolError
from fedsemi.privacy.keys import hashed, numbers, told
from fedsemi.privacy.parameters import (
    MOST_CLAIM_BYTES,
    MOST_SITES,
    PROTOCOL,
    Phase,
)

SiteId = Annotated[int, Field(ge=0, lt=2**31)]
Key = Annotated[bytes, Field(min_length=32, max_length=32)]
Sealed = Annotated[bytes, Field(max_length=1000)]
Signature = Annotated[bytes, Field(max_length=1000)]
Share = Annotated[bytes, Field(max_length=64)]
Sites = Annotated[tuple[SiteId, ...], Field(max_length=MOST_SITES)]


class Letter(BaseModel):
    """Any of them."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        ser_json_bytes="hex",
        val_json_bytes="hex",
    )

    def written(self) -> bytes:
        """Return the text."""
        return self.model_dump_json().encode()

    @classmethod
    def read(cls, text: bytes) -> Self:
        """Read a text, or refuse it in a line."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])[:60]
            raise ProtocolError(
                f"a letter of a masked sum is no {cls.__name__} (at '{where}')",
                code="FS6010",
            ) from None


class Begin(Letter):
    """To every site, with the model: train, and make keys for this session."""

    nonce: Key


class Advert(Letter):
    """A site's answer: its public keys, and what binds it to its own masks."""

    site: SiteId
    seal: Key
    """Others encrypt shares for this site with it."""
    pair: tuple[Key, Key]
    """For the masks that two sites share, one key for each sum."""
    own: tuple[Key, Key]
    """Commitments to the seeds of the site's own masks."""
    unlabeled: bool
    """Whether the site has unlabeled images, so that its claims hide others'."""
    signer: Annotated[bytes, Field(max_length=1000)] = b""
    """The public key that the site is enrolled with; empty in a simulation."""
    signature: Signature = b""

    def signed_text(self, session: bytes) -> bytes:
        """Return what the signature is of."""
        parts = (self.seal, *self.pair, *self.own, self.signer)
        me = self.site, int(self.unlabeled)
        return told(PROTOCOL, "advert", session, *me, *parts)


class Roster(Letter):
    """To all that made keys: whose keys there are."""

    adverts: Annotated[tuple[Advert, ...], Field(max_length=MOST_SITES)]

    @property
    def unlabeled(self) -> set[int]:
        """Which sites have unlabeled images."""
        return {advert.site for advert in self.adverts if advert.unlabeled}


class Envelopes(Letter):
    """A site's answer: its shares, sealed for each of the others; and back to them."""

    sealed: dict[SiteId, Sealed]
    """By the other site: in the answer by receiver, in the letter by sender."""


class Claimed(Letter):
    """A site's answer: its masked claims, which nobody can change on their way."""

    numbers: Annotated[bytes, Field(max_length=MOST_CLAIM_BYTES)]
    """Integers of eight bytes, the lowest first."""
    signature: Signature


class Survivors(Letter):
    """To all whose numbers came: of whom they are the sum."""

    sites: Sites


class Consent(Letter):
    """A site's answer: it has seen this set, and will see no other."""

    signature: Signature


class Consents(Letter):
    """To the same sites: what all of them signed."""

    signatures: dict[SiteId, Signature]


class Opened(Letter):
    """A site's answer: of each site one share, of its own mask or of its pair key."""

    own: dict[SiteId, Share]
    """Of those whose numbers came."""
    pair: dict[SiteId, Share]
    """Of those who were lost after they had shared their keys."""


class Account(Letter):
    """To all that are left: how the sum of the claims came about, for each to check.

    It holds what the server was given to open that sum, and nothing else: who adds up
    the masked claims and takes these masks off has the sum over all sites.
    """

    claims: dict[SiteId, Claimed]
    """Of those whose claims are summed."""
    own: dict[SiteId, Key]
    """The seeds of their own masks."""
    pair: dict[SiteId, Key]
    """The pair keys of those who were lost after they had shared them."""
    group: Sites = ()
    """With whom the receiver sums its step."""


def claims_text(
    session: bytes, site: int, roster: Roster, among: tuple[int, ...], claims: bytes
) -> bytes:
    """Return what a site signs of its masked claims."""
    parts = hashed(roster.written()), numbers(among), claims
    return told(PROTOCOL, "claims", session, site, *parts)


def consent_text(
    session: bytes,
    phase: Phase,
    roster: Roster,
    groups: tuple[tuple[int, ...], ...],
    sites: tuple[int, ...],
) -> bytes:
    """Return what a site signs of a set: under which keys, and who masked with whom.

    The name of a session alone would not do. A server that begins it twice has two
    sets of keys under one name, and what was signed with one would open the other.
    """
    dealt = told(*(numbers(group) for group in groups))
    parts = hashed(roster.written()), dealt, numbers(sites)
    return told(PROTOCOL, "consent", session, phase, *parts)


def session_id(context: str, round: int, nonce: bytes) -> bytes:
    """Name a session: of one plan and stage, one round, one attempt."""
    return hashed(PROTOCOL, "session", context, round, nonce)


def sum_context(
    phase: Phase, roster: Roster, sites: tuple[int, ...], bound: bytes
) -> bytes:
    """Name all that the masks of a sum are bound to.

    Sites that were shown different keys, different sets, models or totals derive masks
    that do not cancel: their sum is noise, and an answer to nothing.
    """
    return hashed(PROTOCOL, "sum", phase, roster.written(), numbers(sites), bound)
