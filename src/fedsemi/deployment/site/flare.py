"""A site under NVIDIA FLARE: the script of a job's clients.

python -m fedsemi.deployment.site.flare SITE

It receives a letter through FLARE's client API, answers it with the function that our
own sites answer with, and sends the answer. Policy, agreement, ledger, egress log and
memory lie in the folder of the site, as they do without FLARE.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from flwr.app import Context, Message, RecordDict

from fedsemi.deployment.bundle import make_bundle
from fedsemi.deployment.flare_letters import META, about, packed, unpacked
from fedsemi.deployment.site.parcels import identify
from fedsemi.deployment.site.warm_node import answer
from fedsemi.storage import make_folder

_RUN, _NODE = 1, 1


def work(folder: Path, flare: Any, device: str | None = None) -> None:
    """Answer letters until the job is over.

    Args:
        folder: The site's.
        flare: The module `nvflare.client`.
        device: Where to compute; as the plan says if left out.
    """
    settings = {"data": str(folder.absolute())}
    if device is not None:
        settings["device"] = device
    home = make_folder(folder.absolute() / "flower", private=True)
    flare.init()
    while flare.is_running():
        asked = flare.receive()
        if asked is None:
            return
        said = about(asked.meta)
        kind = said.pop("kind")
        identify(_RUN, _NODE)
        context = Context(_RUN, _NODE, dict(settings), RecordDict(), dict(said))
        letter = Message(unpacked(asked.params), _NODE, kind)
        letter.metadata.__dict__["_message_id"] = letter.object_id
        reply = answer(letter, context, make_bundle(), home)
        flare.send(flare.FLModel(params=packed(reply.content), meta={META: kind}))


def main(arguments: list[str]) -> None:
    """Work for FLARE with the folder of a site, and perhaps a device."""
    import nvflare.client

    folder, *device = arguments
    work(Path(folder), nvflare.client, device[0] if device else None)


if __name__ == "__main__":
    main(sys.argv[1:])
