"""Where each method comes from, and what it does in a few words."""

from __future__ import annotations

from dataclasses import dataclass

_ANY = "any, see `learner`"
_SEMIANAGG = "SemiAnAgg, TMLR"


@dataclass(frozen=True)
class Provenance:
    """A line of `fedsemi methods`."""

    paper: str
    """Short title and venue."""
    year: int
    learner: str
    """How clients learn."""
    aggregation: str
    """How the server joins what they learned."""
    note: str = ""
    """What a reader has to know before quoting a result."""


PROVENANCE: dict[str, Provenance] = {
    "supervised": Provenance(
        "FedAvg, AISTATS", 2017, "labels", "by number of labels", "bounds, warm-up"
    ),
    "fedavg": Provenance(
        "FedAvg, AISTATS", 2017, _ANY, "by labels and pseudo-labels together"
    ),
    "fedavg-semi": Provenance(
        _SEMIANAGG, 2024, _ANY, "labels half, pseudo-labels half", "Eq. 2"
    ),
    "uniform-semi": Provenance(
        "fedsemi", 2026, _ANY, "labels half, unlabeled sites alike", "a control"
    ),
    "permuted-semi": Provenance(
        "fedsemi", 2026, _ANY, "SemiAnAgg's shares, shuffled", "a control"
    ),
    "semianagg": Provenance(
        _SEMIANAGG, 2024, _ANY, "labels half, unlabeled by diversity", "Eq. 3 and 4"
    ),
    "rscfed": Provenance(
        "RSCFed, CVPR", 2022, "mean teacher", "by closeness to each group's mean"
    ),
    "cbafed-warmup": Provenance(
        "CBAFed, CVPR", 2023, "labels", "by labels, mixed with older models"
    ),
    "cbafed": Provenance(
        "CBAFed, CVPR",
        2023,
        "class-balanced pseudo-labels",
        "by labels and pseudo-labels, mixed with older models",
    ),
    "fedirm": Provenance(
        "FedIRM, MICCAI",
        2021,
        "mean teacher, relation matching",
        "plain mean",
        "without dropout",
    ),
    "fedconsist": Provenance(
        "FedConsist, MedIA",
        2021,
        "weak-strong consistency",
        "labels half, unlabeled by size",
        "our reading",
    ),
    "isofed": Provenance(
        "IsoFed, MICCAI",
        2023,
        "a mean teacher",
        "labeled and unlabeled by turns",
        "our reading",
    ),
    "ssil-cdm": Provenance(
        "ACR in SemiAnAgg",
        2024,
        "two heads, adaptive adjustment",
        "FedAvg-Semi, or FedAvg",
        "our reading, no code released",
    ),
    "fedrod": Provenance(
        "FedRoD in SemiAnAgg",
        2024,
        "balanced softmax, personal head",
        "FedAvg-Semi",
        "our reading; its global model is that of fedavg-semi",
    ),
    "fedrod-dual": Provenance(
        "FedRoD in SemiAnAgg",
        2024,
        "balanced softmax, personal head labels too",
        "FedAvg-Semi",
        "our reading, 'Dual' is not defined in the paper",
    ),
    "fedbarlow": Provenance(
        "FedBarlow in SemiAnAgg",
        2024,
        "two views, no labels",
        "by number of images",
        "a warm-up; the projector is sent and averaged",
    ),
    "orchestra": Provenance(
        "Orchestra, ICML",
        2022,
        "shared clusters, no labels",
        "by number of images",
        "a warm-up; projector and target are sent",
    ),
    "head-only": Provenance(
        _SEMIANAGG, 2024, "labels, encoder frozen", "by number of labels", "a warm-up"
    ),
}
"""By the name of the method; a test asks for a line for each of `METHODS`."""
