"""Methods by name. One method is one file."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from typing import Any

from fedsemi.method import Method
from fedsemi.methods.cbafed import CBAFed
from fedsemi.methods.cbafed_warmup import CBAFedWarmup
from fedsemi.methods.class_mass import ClassMass
from fedsemi.methods.fedavg import FedAvg, FedAvgSemi, UniformSemi
from fedsemi.methods.fedbarlow import FedBarlow
from fedsemi.methods.fedconsist import FedConsist
from fedsemi.methods.feddb import FedDB
from fedsemi.methods.fedirm import FedIRM
from fedsemi.methods.fedmatch import FedMatch
from fedsemi.methods.fedrod import FedRoD, FedRoDDual
from fedsemi.methods.fl2 import FL2
from fedsemi.methods.head_only import HeadOnlyFedAvg
from fedsemi.methods.isofed import IsoFed
from fedsemi.methods.orchestra import OrchestraStage
from fedsemi.methods.permuted import PermutedSemi
from fedsemi.methods.proxyfl import ProxyFL
from fedsemi.methods.rscfed import RSCFed
from fedsemi.methods.sage import SAGE
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.methods.semifl import SemiFL
from fedsemi.methods.ssil_cdm import SsilCdm
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.methods.twin_sight import TwinSight
from fedsemi.plugins.registry import Registry


def _problem(thing: Any) -> str | None:
    """Say why something from outside is no method; None if it is one."""
    if not (inspect.isclass(thing) and issubclass(thing, Method)):
        return "is no subclass of fedsemi.method.Method"
    if inspect.isabstract(thing):
        return f"lacks {', '.join(sorted(thing.__abstractmethods__))}"
    if not is_dataclass(thing) or [f.name for f in fields(thing)][:1] != ["setup"]:
        return "is no dataclass whose first field is `setup: Setup`"
    return None


METHODS: Registry[type[Method[Any]]] = Registry(
    "method",
    {
        method.name: method
        for method in (
            SupervisedFedAvg,
            FedAvg,
            FedAvgSemi,
            UniformSemi,
            PermutedSemi,
            SemiAnAgg,
            ClassMass,
            SsilCdm,
            FedRoD,
            FedRoDDual,
            RSCFed,
            CBAFedWarmup,
            CBAFed,
            IsoFed,
            FedIRM,
            FedConsist,
            FedBarlow,
            OrchestraStage,
            HeadOnlyFedAvg,
            FedDB,
            SAGE,
            FL2,
            SemiFL,
            TwinSight,
            ProxyFL,
            FedMatch,
        )
    },
    _problem,
)
"""The methods that come with fedsemi; others enter as plug-ins."""
