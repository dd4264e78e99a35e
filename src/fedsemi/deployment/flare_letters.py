"""Letters and answers as NVIDIA FLARE's models: our records as one array of bytes.

FLARE carries them and keeps a job going; what is in them, who checks it and what a site
does with it is the same as in our own deployment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from flwr.app import RecordDict
from flwr.common.serde import recorddict_from_proto, recorddict_to_proto
from flwr.proto.recorddict_pb2 import RecordDict as RecordDictProto

from fedsemi.errors import ProtocolError

META = "fedsemi"
"""Where a model says which letter it is."""
_LETTER = "letter"


def packed(content: RecordDict) -> dict[str, Any]:
    """Write records as the parameters of a model."""
    text = recorddict_to_proto(content).SerializeToString(deterministic=True)
    return {_LETTER: np.frombuffer(text, np.uint8)}


def unpacked(params: Mapping[str, Any] | None) -> RecordDict:
    """Read records from the parameters of a model."""
    array = (params or {}).get(_LETTER)
    if not isinstance(array, np.ndarray) or array.dtype != np.uint8:
        raise ProtocolError("a model of FLARE holds no letter", code="FS2101")
    try:
        return recorddict_from_proto(RecordDictProto.FromString(array.tobytes()))
    except Exception as error:  # bytes of a stranger, read by two libraries
        kind = type(error).__name__
        raise ProtocolError(
            f"a letter of FLARE is unreadable ({kind})", code="FS2101"
        ) from None


def about(meta: Mapping[str, Any] | None) -> dict[str, str]:
    """Read which letter a model is: its kind, the plan and the ticket of the run."""
    found = (meta or {}).get(META)
    if not isinstance(found, dict) or not all(
        isinstance(found.get(name), str) for name in ("kind", "plan", "ticket")
    ):
        raise ProtocolError("a model of FLARE does not say what it is", code="FS2101")
    return {name: found[name] for name in ("kind", "plan", "ticket")}
