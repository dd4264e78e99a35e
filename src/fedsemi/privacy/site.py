"""A site's side of masked sums, without input or output.

Bonawitz et al., Practical Secure Aggregation for Privacy-Preserving Machine Learning,
CCS 2017, in its form against an active server, for two sums in a row: the second has
keys of its own, so that a site lost there does not lay its part of the first one open.

A site answers each step once. The same question again gets the same answer; any other
is refused, for two answers under one mask differ by what the mask should hide.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedsemi.errors import ProtocolError
from fedsemi.privacy.accounts import as_bytes, claims_total
from fedsemi.privacy.fixed_point import Integers
from fedsemi.privacy.fresh import fresh_record
from fedsemi.privacy.groups import Deal, Group
from fedsemi.privacy.identity import Identity, check_signed, signers_of
from fedsemi.privacy.keys import sealed, unsealed
from fedsemi.privacy.letters import (
    Account,
    Advert,
    Claimed,
    Consent,
    Consents,
    Envelopes,
    Opened,
    Roster,
    Survivors,
    claims_text,
    consent_text,
    session_id,
    sum_context,
)
from fedsemi.privacy.parameters import MOST_ATTEMPTS, SHARE_BYTES, Phase
from fedsemi.privacy.rules import Rules, require
from fedsemi.privacy.site_masks import masked, places_of, roster_of, split_secrets
from fedsemi.privacy.vault import Opening, Record, Vault


@dataclass(frozen=True)
class SumSite:
    """What one site does; all that it remembers is in its vault."""

    site: int
    context: str
    """Names plan and stage."""
    rules: Rules
    identity: Identity
    vault: Vault
    unlabeled: bool = True
    """Whether the site has unlabeled images."""

    def begin(self, round: int, nonce: bytes, bound: bytes) -> Advert:
        """Make keys for a session; the same session again has the same.

        Args:
            round: Of the stage.
            nonce: The server's name for this attempt at it.
            bound: Hash of all that the sites must have been told alike.
        """
        session = session_id(self.context, round, nonce)
        record = self.vault.read()
        if record is not None and record.session == session:
            require(record.bound == bound, "this session began with another model")
            return record.advert
        past = self.vault.past(round)
        require(
            past.attempts < MOST_ATTEMPTS,
            "the round was begun too often, so the plan needs another seed",
        )
        self.vault.note(round, past.model_copy(update={"attempts": past.attempts + 1}))
        me = self.site, self.unlabeled
        record = fresh_record(me, self.identity, round, session, bound)
        self.vault.write(record)
        return record.advert

    def share(self, round: int, roster: Roster) -> Envelopes:
        """Share the secrets of the session out to all whose keys there are."""
        record = self._record(round)
        if record.roster is not None and record.envelopes is not None:
            require(record.roster == roster, "keys of other sites were shown before")
            return record.envelopes
        self._check_roster(record, roster)
        sites = [advert.site for advert in roster.adverts]
        parts = split_secrets(record, sites, self.rules.needed(len(sites)))
        envelopes = Envelopes(
            sealed={
                advert.site: sealed(
                    record.seal,
                    advert.seal,
                    record.session,
                    (self.site, advert.site),
                    b"".join(parts[advert.site]),
                )
                for advert in roster.adverts
                if advert.site != self.site
            }
        )
        update = {
            "roster": roster,
            "envelopes": envelopes,
            "shares": {self.site: parts[self.site]},
        }
        self.vault.write(record.model_copy(update=update))
        return envelopes

    def receive(self, round: int, letter: Envelopes) -> None:
        """Take in the shares of those with whom the claims are masked."""
        record = self._record(round)
        among = tuple(sorted({*letter.sealed, self.site}))
        if "claims" in record.among:
            require(record.among["claims"] == among, "shares of other sites came")
            return
        adverts = {advert.site: advert for advert in roster_of(record).adverts}
        require(self.site not in letter.sealed, "its own shares came back")
        require(letter.sealed.keys() <= adverts.keys(), "a stranger sent shares")
        self.rules.check(len(among), len(adverts))
        shares = dict(record.shares)
        for sender, text in letter.sealed.items():
            way = sender, self.site
            found = unsealed(
                record.seal, adverts[sender].seal, record.session, way, text
            )
            require(len(found) == 4 * SHARE_BYTES, f"site {sender} shared too little")
            cuts = range(0, len(found), SHARE_BYTES)
            shares[sender] = tuple(found[i : i + SHARE_BYTES] for i in cuts)
        update = {"shares": shares, "among": {"claims": among}}
        self.vault.write(record.model_copy(update=update))

    def claim(self, round: int, claims: Integers, bound: bytes) -> Claimed:
        """Mask the claims, and sign that."""
        numbers = as_bytes(self.mask(round, "claims", claims, bound))
        record = self._record(round)
        roster, among = roster_of(record), record.among["claims"]
        text = claims_text(record.session, self.site, roster, among, numbers)
        return Claimed(numbers=numbers, signature=self.identity.sign(text))

    def total(self, round: int, account: Account, size: int) -> NDArray[np.float64]:
        """Find what the claims come to, whatever a server says of it."""
        record = self._record(round)
        require("claims" in record.consents, "no set of claims was agreed on")
        return claims_total(record, account, self.identity, size)

    def hear(self, round: int, bound: bytes) -> None:
        """Take in the sums of the claims: the first that come in a session, no others.

        They are noted before they are looked at. A site refuses sums below its own
        part, so that who could try one after the other would find that part.
        """
        record = self._record(round)
        require("claims" in record.consents, "no set of claims was agreed on")
        same = record.bounds.get("model", bound) == bound
        require(same, "other sums of the claims came before")
        bounds = {**record.bounds, "model": bound}
        self.vault.write(record.model_copy(update={"bounds": bounds}))

    def mask(
        self, round: int, phase: Phase, numbers: Integers, bound: bytes
    ) -> Integers:
        """Mask numbers for a sum, with those of the site's group."""
        record = self._record(round)
        among = self._among(record, phase)
        digest = hashlib.sha256(numbers.tobytes()).digest()
        if phase in record.digests:
            same = record.digests[phase] == digest and record.bounds[phase] == bound
            require(same, "other numbers were masked before")
        else:
            update = {
                "among": {**record.among, phase: among},
                "bounds": {**record.bounds, phase: bound},
                "digests": {**record.digests, phase: digest},
            }
            self.vault.write(record.model_copy(update=update))
        group = self._deal(record, phase, among).of_site(self.site)
        context = sum_context(phase, roster_of(record), group, bound)
        return masked(record, phase, numbers, group, context)

    def consent(self, round: int, phase: Phase, survivors: Survivors) -> Consent:
        """Agree to the set whose sum is opened: one in a session, one in a round."""
        record = self._record(round)
        sites, sent = survivors.sites, record.digests.get(phase)
        require(sent is not None, "nothing was masked yet")
        require(sites == tuple(sorted(set(sites))), "a set names a site twice")
        among = record.among.get(phase, ())
        deal = self._deal(record, phase, among)
        fits = self.site in deal.voters(sites) and set(sites) <= set(among)
        require(fits, "it, or those it masked with, are not in the set")
        deal.check(sites, self.rules, len(roster_of(record).adverts))
        if phase == "claims":
            self.rules.check_unlabeled(sites, roster_of(record).unlabeled)
        require(
            record.consents.get(phase, sites) == sites,
            "it agreed to another set before",
        )
        opened = self.vault.past(round).opened.get(phase)
        if opened is not None:
            same = opened.sites == sites and opened.digest == sent
            require(same, "another sum of this round was opened before")
        update = {"consents": {**record.consents, phase: sites}}
        self.vault.write(record.model_copy(update=update))
        text = self._consent_text(record, phase, sites)
        return Consent(signature=self.identity.sign(text))

    def open(self, round: int, phase: Phase, consents: Consents) -> Opened:
        """Give, of each site, what takes its masks off the sum, and never both."""
        record = self._record(round)
        require(phase in record.consents, "no set was agreed on")
        sites, roster = record.consents[phase], roster_of(record)
        deal = self._deal(record, phase, record.among[phase])
        text = self._consent_text(record, phase, sites)
        signed = signers_of(text, consents.signatures, roster, self.identity)
        self.rules.check(len(signed & deal.voters(sites)), len(roster.adverts))
        past = self.vault.past(round)
        opening = Opening(sites=sites, digest=record.digests[phase])
        before = past.opened.get(phase, opening)
        require(before == opening, "another sum of this round was opened before")
        opened = {**past.opened, phase: opening}
        self.vault.note(round, past.model_copy(update={"opened": opened}))
        if not record.settled:
            self.vault.write(record.model_copy(update={"settled": True}))
        own, pair = places_of(phase)
        return Opened(
            own={site: record.shares[site][own] for site in sites},
            pair={site: record.shares[site][pair] for site in deal.missing(sites)},
        )

    def num_sites(self, round: int) -> int:
        """Count the sites that made keys for a round's sums."""
        return len(roster_of(self._record(round)).adverts)

    def bound(self, round: int) -> bytes:
        """Return what the session began with."""
        return self._record(round).bound

    def session(self, round: int) -> bytes:
        """Return the name of the session that is under way."""
        return self._record(round).session

    def group(self, round: int) -> Group:
        """Return with whom this site sums its step."""
        record = self._record(round)
        among = self._among(record, "model")
        return self._deal(record, "model", among).of_site(self.site)

    def _among(self, record: Record, phase: Phase) -> Group:
        """Return among whom a sum is made: that of the model, whose claims were summed.

        Groups follow from that set. Sites that took different ones for it could be
        summed in smaller groups than each believes, so that a site must have seen that
        enough others signed the same.
        """
        if phase == "claims":
            require("claims" in record.among, "no shares have come")
            return record.among["claims"]
        require("claims" in record.consents, "no set of claims was agreed on")
        agreed = record.settled or not self.rules.grouped
        require(agreed, "others were not seen to agree to the set of claims")
        return record.consents["claims"]

    def _consent_text(self, record: Record, phase: Phase, sites: Group) -> bytes:
        groups = self._deal(record, phase, record.among[phase]).groups
        return consent_text(record.session, phase, roster_of(record), groups, sites)

    def _deal(self, record: Record, phase: Phase, among: Group) -> Deal:
        return Deal.of(phase, among, self.rules, record.round)

    def _record(self, round: int) -> Record:
        record = self.vault.read()
        if record is None or record.round != round:
            raise ProtocolError(
                f"site {self.site} has no masked sum under way in round {round + 1}",
                code="FS6005",
            )
        return record

    def _check_roster(self, record: Record, roster: Roster) -> None:
        sites = [advert.site for advert in roster.adverts]
        require(sites == sorted(set(sites)), "the list of keys names a site twice")
        require(record.advert in roster.adverts, "its own keys were changed")
        signers = [advert.signer for advert in roster.adverts if advert.signer]
        require(len(signers) == len(set(signers)), "one key stands for two sites")
        self.rules.check(len(sites), len(sites))
        self.rules.check_unlabeled(sites, roster.unlabeled)
        check_signed(roster, record.session, self.identity)
