"""The ClientApp: what runs at a site for each message that arrives."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from fedsemi.config.blueprint import Blueprint, read_blueprint
from fedsemi.data.site import Site, read_site
from fedsemi.deployment.certificates import SITE_KEY
from fedsemi.deployment.codec import (
    decode_order,
    encode_introduction,
    encode_update,
)
from fedsemi.deployment.site.agreement import (
    Agreement,
    allowed_by,
    memory_folder,
)
from fedsemi.deployment.site.desk import Desk
from fedsemi.deployment.site.memory_store import MemoryStore
from fedsemi.deployment.site.plan import read_plan
from fedsemi.deployment.site.policy import read_policy
from fedsemi.deployment.site.sum_desk import SumDesk
from fedsemi.errors import ConfigError, FedSemiError, ProtocolError
from fedsemi.noise import secret_of

logger = logging.getLogger("fedsemi.flower")
DeskOf = Callable[[Context], Desk]


def client_app(desk_of: DeskOf) -> ClientApp:
    """Make a ClientApp that answers queries and training tasks at a site's desk."""
    app = ClientApp()

    @app.query()
    def introduce(message: Message, context: Context) -> Message:
        return _reply(
            message, lambda: encode_introduction(desk_of(context).introduction())
        )

    @app.train()
    def train(message: Message, context: Context) -> Message:
        return _reply(
            message,
            lambda: encode_update(
                desk_of(context).carry_out(decode_order(message.content))
            ),
        )

    return app


def simulated_desk(blueprint: str, sites: Path, context: Context) -> Desk:
    """Open the desk of a simulated site: its number is its partition."""
    number = int(context.node_config["partition-id"])
    folder = sites / f"site-{number}"
    return _open(read_blueprint(blueprint), read_site(folder), folder)


def deployed_desk(context: Context) -> Desk:
    """Open the desk of a real site: the plan came with the run, the data lie here.

    Nothing of the plan is built before the site has agreed to it.
    """
    folder = Path(_setting(context.node_config, "data"))
    policy = read_policy(folder)
    plan = str(context.run_config["plan"])
    blueprint = read_plan(plan, policy, allowed_by(folder))
    site = read_site(folder)
    agreement = Agreement(folder, blueprint, site)
    agreement.settle()
    device = context.node_config.get("device")
    privacy = blueprint.experiment.privacy
    if privacy.statistics_noise or privacy.noise_multiplier:
        blueprint = replace(blueprint, secret=secret_of(folder, blueprint.sha256))
    desk = _open(blueprint, site, folder)
    key = context.node_config.get("key", folder / "keys" / SITE_KEY)
    return replace(
        desk,
        device=None if device is None else str(device),
        agreement=agreement,
        sums=SumDesk(memory_folder(folder, blueprint), folder, Path(str(key))),
    )


def _open(blueprint: Blueprint, site: Site, folder: Path) -> Desk:
    blueprint = replace(blueprint, features=folder / "features")
    kept = memory_folder(folder, blueprint)
    return Desk(blueprint, site, MemoryStore(kept), sums=SumDesk(kept))


def _setting(config: Any, name: str) -> str:
    if name not in config:
        raise ConfigError(f"this site was started without '{name}'", code="FS4109")
    return str(config[name])


def _reply(message: Message, answer: Callable[[], RecordDict]) -> Message:
    """Answer, or say in one declared record why not.

    Flower would send the text of any exception, and with it whatever a library put
    there, a file name for instance. Of a foreign error only the type leaves the site.
    """
    try:
        content = answer()
    except FedSemiError as error:
        content = failure(error.code, leaving(error))
        logger.warning("refused: %s", error)
    except Exception as error:
        content = failure("FS2301", f"FS2301 {type(error).__name__}")
        logger.error("a task failed at this site", exc_info=error)
    return Message(content, reply_to=message)


def leaving(error: FedSemiError) -> str:
    """Say of an error what may leave the site.

    A ProtocolError is written for the other side. All others may name files of the
    site, whose folder may be called after who owns it: of these the code and the type
    leave, and the site's own log has the text.
    """
    if isinstance(error, ProtocolError):
        return str(error)
    if error.code == "FS6100":
        return "FS6100 this site's policy is damaged, so that it answers nothing"
    if error.code in ("FS4190", "FS4191", "FS1109"):
        return f"{error.code} the plan's encoder is not at the site; see there"
    if error.code not in ("FS4160", "FS4161", "FS4162"):
        return f"{error.code} {type(error).__name__} at the site; see its log"
    kind = type(error.__cause__ or error).__name__
    return f"{error.code} a plug-in of the plan failed at the site ({kind}); see there"


def failure(code: str, reason: str) -> RecordDict:
    """Say in the one declared record for it why there is no other answer."""
    return RecordDict({"failure": ConfigRecord({"code": code, "reason": reason})})
