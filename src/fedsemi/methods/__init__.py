"""Methods by name. One method is one file; add a line here for a new one."""

from __future__ import annotations

from typing import Any

from fedsemi.methods.cbafed import CBAFed
from fedsemi.methods.cbafed_warmup import CBAFedWarmup
from fedsemi.methods.fedavg import FedAvg, FedAvgSemi, UniformSemi
from fedsemi.methods.fedbarlow import FedBarlow
from fedsemi.methods.fedconsist import FedConsist
from fedsemi.methods.fedirm import FedIRM
from fedsemi.methods.fedrod import FedRoD, FedRoDDual
from fedsemi.methods.head_only import HeadOnlyFedAvg
from fedsemi.methods.isofed import IsoFed
from fedsemi.methods.orchestra import OrchestraStage
from fedsemi.methods.rscfed import RSCFed
from fedsemi.methods.semianagg import PermutedSemi, SemiAnAgg
from fedsemi.methods.ssil_cdm import SsilCdm
from fedsemi.methods.supervised import SupervisedFedAvg

METHODS: dict[str, Any] = {
    "supervised": SupervisedFedAvg,
    "fedavg": FedAvg,
    "fedavg-semi": FedAvgSemi,
    "uniform-semi": UniformSemi,
    "permuted-semi": PermutedSemi,
    "semianagg": SemiAnAgg,
    "ssil-cdm": SsilCdm,
    "fedrod": FedRoD,
    "fedrod-dual": FedRoDDual,
    "rscfed": RSCFed,
    "cbafed-warmup": CBAFedWarmup,
    "cbafed": CBAFed,
    "isofed": IsoFed,
    "fedirm": FedIRM,
    "fedconsist": FedConsist,
    "fedbarlow": FedBarlow,
    "orchestra": OrchestraStage,
    "head-only": HeadOnlyFedAvg,
}
LABELS_ONLY = ("supervised", "cbafed-warmup", "head-only")
"""Those that ask labeled clients alone, and learn from nothing but labels."""
