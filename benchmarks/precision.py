"""What bf16 saves against float32, in rounds and in labeling."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.common import Federation, Section, make_clients, make_setup, medians
from fedsemi.models.precision import check_precision

_SAMPLES = 640


def precision(times: int) -> Section:
    """Rounds in bf16 against the same rounds in float32."""
    check_precision("bf16", "cpu")
    rows = []
    for size in (16, 32):
        for method, labeled in (("supervised", 1), ("semianagg", 0)):
            setup, clients = make_setup(size=size), make_clients(1, _SAMPLES, labeled)
            exact = Federation(method, setup, clients, 0)
            rough = Federation(method, replace(setup, precision="bf16"), clients, 0)
            slow, fast = medians([exact, rough], times)
            ratio = f"{slow / fast:.2f}"
            rows.append(
                [f"{method}, {size} px", f"{slow:.2f} s", f"{fast:.2f} s", ratio]
            )
    return Section(
        "Precision",
        "Processor seconds of a federated round in float32 and with "
        '`precision = "bf16"`, `resnet8`, 640 samples. Where bf16 is emulated or the '
        "processor's tiles do not work, it is refused and not measured; "
        "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 does without tiles.",
        ["round", "float32", "bf16", "times as fast"],
        rows,
    )
