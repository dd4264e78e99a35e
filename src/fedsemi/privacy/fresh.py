"""The keys with which a site begins a session."""

from __future__ import annotations

import secrets

from fedsemi.privacy.identity import Identity
from fedsemi.privacy.keys import commitment, public_of
from fedsemi.privacy.letters import Advert
from fedsemi.privacy.parameters import SECRET_BYTES
from fedsemi.privacy.vault import Record


def fresh_record(
    me: tuple[int, bool], identity: Identity, round: int, session: bytes, bound: bytes
) -> Record:
    """Draw all secrets of a session, and sign the public side of them.

    Args:
        me: The site, and whether it has unlabeled images.
        identity: Its signing key.
        round: Of the stage.
        session: Its name.
        bound: Hash of all that the sites must have been told alike.
    """
    site, unlabeled = me
    drawn = [secrets.token_bytes(SECRET_BYTES) for _ in range(5)]
    seal, pair, own = drawn[0], (drawn[1], drawn[2]), (drawn[3], drawn[4])
    advert = Advert(
        site=site,
        unlabeled=unlabeled,
        seal=public_of(seal),
        pair=(public_of(pair[0]), public_of(pair[1])),
        own=(commitment(own[0], session, site), commitment(own[1], session, site)),
        signer=identity.signer,
    )
    signature = identity.sign(advert.signed_text(session))
    return Record(
        round=round,
        session=session,
        bound=bound,
        seal=seal,
        pair=pair,
        own=own,
        advert=advert.model_copy(update={"signature": signature}),
    )
