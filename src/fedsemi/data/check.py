"""Check the folders of a federation before training, and say what to do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedsemi.data.augment import pre_size
from fedsemi.data.dataset import UNKNOWN
from fedsemi.data.folder import SiteData, bad_parts, read_site
from fedsemi.data.folder_labels import foreign_remedy
from fedsemi.data.label_gaps import HANDFUL, label_gaps
from fedsemi.data.label_table import FOREIGN, PROBLEMS, LeftOut
from fedsemi.data.site_settings import SitesSettings
from fedsemi.data.sites import hold_out, overlap


@dataclass(frozen=True)
class Finding:
    """Something to know about the folders, and what to do about it."""

    stops: bool
    """Whether training would refuse to start."""
    text: str
    remedy: str
    max_bad: float | None = None
    """The limit that would let training start all the same, if there is one."""


@dataclass(frozen=True, eq=False)
class Report:
    """All that a check found."""

    sites: tuple[SiteData, ...]
    test: SiteData | None
    findings: tuple[Finding, ...]
    megabytes: float
    """Of the decoded images, twice: once read, once dealt out."""

    tested: tuple[LeftOut, ...] = ()
    """Training images that are also tested on."""
    contradicting: tuple[LeftOut, ...] = ()
    """Images that stand under several classes."""

    @property
    def problems(self) -> list[LeftOut]:
        """All that should be looked at, file by file."""
        return [*self.left_out, *self.tested, *self.contradicting]

    @property
    def left_out(self) -> list[LeftOut]:
        """Everything that is not used."""
        return [it for site in self.everyone for it in site.left_out]

    @property
    def everyone(self) -> list[SiteData]:
        """The sites and the test folder."""
        return [*self.sites, *([self.test] if self.test else [])]


def check(settings: SitesSettings, image_size: int, seed: int = 1) -> Report:
    """Read everything with no limit on bad files, and judge it by the real limits."""
    side = pre_size(image_size)
    sites = [read_site(Path(f), settings, side, True) for f in settings.folders]
    test = (
        read_site(Path(settings.test), settings, side, True) if settings.test else None
    )
    everyone = [*sites, *([test] if test else [])]
    tested = tuple(_also_tested(sites, test, settings, seed))
    opposed = tuple(_opposed(everyone, settings.classes))
    findings = [
        *(finding for site in everyone for finding in _foreign(site)),
        *(finding for site in everyone for finding in _bad(site, settings.max_bad)),
        *(Finding(False, note, "") for site in everyone for note in site.notes),
        *_mixed(everyone),
        *_duplicates(sites, opposed),
        *_contradictions(opposed),
        *_leak(tested, settings),
        *_coverage(sites, test, settings, seed),
    ]
    total = sum(site.images.numel() for site in everyone)
    megabytes = 2 * total / 2**20
    return Report(tuple(sites), test, tuple(findings), megabytes, tested, opposed)


def duplicates(sites: Sequence[SiteData]) -> list[list[tuple[str, str]]]:
    """Return the sets of (site, file) whose pixels are the same."""
    places: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for site in sites:
        for digest, file in zip(site.pixel_digests, site.files, strict=True):
            places[digest].append((site.name, file))
    return [same for same in places.values() if len(same) > 1]


def _foreign(site: SiteData) -> list[Finding]:
    """Name each class of a site that the federation does not know."""
    places: dict[str, list[LeftOut]] = defaultdict(list)
    for it in site.left_out:
        if it.code == FOREIGN:
            places[it.reason].append(it)
    return [
        Finding(
            True,
            f"{FOREIGN} {site.name}: {found[0]}"
            + (f"; {len(found) - 1} more like it" if len(found) > 1 else ""),
            foreign_remedy(found[0]),
        )
        for found in places.values()
    ]


def _bad(site: SiteData, max_bad: float) -> list[Finding]:
    findings = []
    for what, bad, total in bad_parts(site):
        stops = len(bad) > max_bad * total
        remedy = f"repair or delete them ({PROBLEMS} lists all)"
        limit = _above(len(bad) / total) if stops else None
        text = f"{len(bad)} of {total} {what}, limit {max_bad:.0%}; first: {bad[0]}"
        text = f"{bad[0].code} {site.name}: {text}"
        findings.append(Finding(stops, text, remedy, limit))
    return findings


def _above(share: float) -> float:
    return float(np.ceil(share * 100 + 0.5) / 100)


def _mixed(sites: Sequence[SiteData]) -> list[Finding]:
    return [
        Finding(
            False,
            f"FS3104 {site.name} mixes modes: "
            + ", ".join(f"{n} {mode}" for mode, n in Counter(site.modes).most_common()),
            "all are made alike; check that gray and color do not stand for classes",
        )
        for site in sites
        if len(set(site.modes)) > 1
    ]


def _duplicates(sites: Sequence[SiteData], opposed: Sequence[LeftOut]) -> list[Finding]:
    """Count duplicates, but not those that contradict each other: these are told."""
    told = {(each.site, each.file) for each in opposed}
    sets = [same for same in duplicates(sites) if not told & {*same}]
    if not sets:
        return []
    extra = sum(len(same) - 1 for same in sets)
    across = sum(len({site for site, _ in same}) > 1 for same in sets)
    (site, file), (other, again) = sets[0][:2]
    return [
        Finding(
            False,
            f"FS3402 {extra} exact duplicates, {across} sets across sites; first: "
            f"{site}/{file} = {other}/{again}",
            "harmless if meant; they count twice and are never split from each other",
        )
    ]


def _opposed(sites: Sequence[SiteData], classes: Sequence[str]) -> Iterator[LeftOut]:
    """Yield each image whose very pixels stand under another class as well."""
    places: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for site in sites:
        rows = zip(site.pixel_digests, site.files, site.labels.tolist(), strict=True)
        for digest, file, label in rows:
            if label != UNKNOWN:
                places[digest].append((site.name, file, label))
    for same in places.values():
        if len({label for _, _, label in same}) == 1:
            continue
        for site_name, file, label in same:
            others = [f"{s}/{f} ({classes[c]})" for s, f, c in same if c != label]
            reason = f"is '{classes[label]}' here, but the same picture is {others[0]}"
            yield LeftOut(site_name, file, "FS3403", reason)


def _contradictions(opposed: Sequence[LeftOut]) -> list[Finding]:
    if not opposed:
        return []
    first = opposed[0]
    text = (
        f"FS3403 {len(opposed)} images stand under two classes; first: "
        f"{first.site}/{first}"
    )
    return [Finding(False, text, f"{first.remedy} ({PROBLEMS} lists all)")]


def _also_tested(
    sites: Sequence[SiteData], test: SiteData | None, settings: SitesSettings, seed: int
) -> Iterator[LeftOut]:
    for site, file in overlap(sites, *_tested(sites, test, settings, seed)):
        yield LeftOut(site, file, "FS3401", "is learned from and tested on")


def _leak(tested: Sequence[LeftOut], settings: SitesSettings) -> list[Finding]:
    if not tested:
        return []
    found = Counter(it.site for it in tested)
    where = ", ".join(f"{name}: {count}" for name, count in found.items())
    first = f"{tested[0].site}/{tested[0].file}"
    return [
        Finding(
            not settings.allow_leak,
            f"FS3401 {len(tested)} training images are also tested on ({where}); "
            f"first: {first}",
            f"delete them on one side ({PROBLEMS} lists all), or set allow_leak = true "
            "and trust no accuracy",
        )
    ]


def _tested(
    sites: Sequence[SiteData], test: SiteData | None, settings: SitesSettings, seed: int
) -> tuple[list[np.ndarray], set[str]]:
    if test is not None:
        labeled = np.flatnonzero((test.labels != UNKNOWN).numpy())
        none = [np.zeros(len(site), dtype=bool) for site in sites]
        return none, {test.pixel_digests[row] for row in labeled}
    held_out = [hold_out(site, settings.test_fraction, seed) for site in sites]
    digests = {
        digest
        for site, out in zip(sites, held_out, strict=True)
        for digest, tested in zip(site.pixel_digests, out, strict=True)
        if tested
    }
    return held_out, digests


def _coverage(
    sites: Sequence[SiteData], test: SiteData | None, settings: SitesSettings, seed: int
) -> list[Finding]:
    if len(settings.classes) < 2:
        text = f"FS3303 classes here: {len(settings.classes)}, training needs two"
        remedy = "fine for one site of several, if another has labels"
        return [Finding(False, text, remedy)]
    held_out, _ = _tested(sites, test, settings, seed)
    learned: list[np.ndarray] = []
    tested: Counter[int] = Counter(test.labels.tolist() if test else ())
    for site, out in zip(sites, held_out, strict=True):
        labels = site.labels.numpy()
        learned.append(labels[~out & (labels != UNKNOWN)])
        tested.update(labels[out].tolist())
    del tested[UNKNOWN]
    gaps = label_gaps(learned, settings.classes)
    findings = []
    for label, name in enumerate(settings.classes):
        if name in gaps.missing:
            text = f"FS3303 no site has a labeled image of '{name}' to learn from"
            remedy = "label some, or take the class out of sites.classes"
            findings.append(Finding(False, text, remedy))
        elif tested.total() and not tested[label]:
            text = f"FS3303 no image of '{name}' is tested on"
            findings.append(Finding(False, text, "label more of them"))
    for name, count in gaps.few:
        text = f"FS3406 labeled images of '{name}' to learn from: {count}"
        findings.append(Finding(False, text, f"label {HANDFUL} or more"))
    if not any(map(len, learned)):
        text = "FS3303 no site has labels"
        findings.append(Finding(True, text, "one site must have some"))
    elif not tested.total():
        text = "FS3303 there is no labeled image to test on"
        findings.append(Finding(True, text, "label some of them"))
    return findings
