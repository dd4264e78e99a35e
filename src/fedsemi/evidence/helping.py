"""Did unlabeled sites help, in a comparison over seeds? Its sentence, method by method.

Methods that ended in the same model are told together, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.layout import BOUNDS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.stats import spread
from fedsemi.evidence.sweep import point_label
from fedsemi.report.helped import Case, Difference, helped, louder
from fedsemi.runs.silence import NEVER_ASKED, Silence

_LABELS_ONLY = "lower"
_ONE_SEED = "one seed has no interval, several have"
_MISSING = "no model of the labels alone is there; compare with lower as well"


def sentences(settings: Sequence[Setting], evidence: Evidence) -> list[str]:
    """Say of each method whether unlabeled sites helped it, by how much, how sure."""
    methods = [each for each in settings if each.arm not in BOUNDS]
    ran = [each for each in methods if evidence.found(each)]
    lines = []
    for same in _alike(ran, evidence):
        first = same[0]
        alone = Setting(first.dataset, _LABELS_ONLY, first.partition)
        case = _case(first, alone if alone in settings else None, evidence)
        where = f" ({point_label(first.partition)})" if first.partition else ""
        names = ", ".join(each.arm for each in same)
        text = f"{names}{where}: {helped(case)}"
        if len(same) > 1:
            text += " They ended in the same model, bit for bit."
        lines.append(text)
    return lines


def _alike(settings: Sequence[Setting], evidence: Evidence) -> list[list[Setting]]:
    """Put settings of one point together whose models are the same."""
    groups: list[list[Setting]] = []
    for each in settings:
        for group in groups:
            first = group[0]
            if first.partition == each.partition and evidence.same_model(first, each):
                group.append(each)
                break
        else:
            groups.append([each])
    return groups


def _case(setting: Setting, alone: Setting | None, evidence: Evidence) -> Case:
    records = evidence.found(setting)
    silence = _silence([record.get("silence") for record in records.values()])
    some = next(iter(records.values()))
    owned = some["owns"].values()
    partly = all(each["num_labeled"] for each in owned)
    who = "unlabeled images" if partly else "unlabeled sites"
    if silence.total:
        remedy = louder(some["config"], silence)
        return Case(silence=silence, remedy=remedy, who=who)
    difference = None if alone is None else _difference(setting, alone, evidence)
    return Case(difference, _MISSING, who=who)


def _silence(found: Sequence[dict[str, int] | None]) -> Silence:
    """Add the rounds of all seeds up; records of older versions do not tell."""
    if None in found:
        return NEVER_ASKED
    each = [Silence(**one) for one in found if one is not None]
    return Silence(
        sum(one.silent for one in each),
        sum(one.asked for one in each),
        sum(one.num_pseudo for one in each),
    )


def _difference(
    setting: Setting, alone: Setting, evidence: Evidence
) -> Difference | None:
    test = evidence.paired(setting, alone, "accuracy")
    if test is None:
        return None
    scores = [evidence.scores(each, "accuracy") for each in (setting, alone)]
    both = sorted(scores[0].keys() & scores[1].keys())
    ours, other = (spread([one[seed] for seed in both]).mean for one in scores)
    over = f"{test.n} seeds" if test.n > 1 else _ONE_SEED
    return Difference(ours, other, test.low, test.high, over)
