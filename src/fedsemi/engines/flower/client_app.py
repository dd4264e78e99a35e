"""The ClientApp: what runs at a site for each message that arrives."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from fedsemi.blueprint import Blueprint, read_blueprint
from fedsemi.data.site import read_site
from fedsemi.engines.flower.codec import (
    decode_order,
    encode_introduction,
    encode_update,
)
from fedsemi.engines.flower.desk import Desk
from fedsemi.engines.flower.memory import MemoryStore
from fedsemi.errors import ConfigError, FedSemiError

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
    return _open(read_blueprint(blueprint), sites / f"site-{number}", None)


def deployed_desk(context: Context) -> Desk:
    """Open the desk of a real site: the plan came with the run, the data lie here."""
    blueprint = read_blueprint(str(context.run_config["plan"]))
    folder = Path(_setting(context.node_config, "data"))
    device = context.node_config.get("device")
    return _open(blueprint, folder, None if device is None else str(device))


def _open(blueprint: Blueprint, folder: Path, device: str | None) -> Desk:
    memory = MemoryStore(folder / "memory" / blueprint.sha256[:16])
    return Desk(blueprint, read_site(folder), memory, device)


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
        content = _failure(error.code, str(error))
    except Exception as error:
        content = _failure("FS2301", f"FS2301 {type(error).__name__}")
        logger.error("a task failed at this site", exc_info=error)
    return Message(content, reply_to=message)


def _failure(code: str, reason: str) -> RecordDict:
    return RecordDict({"failure": ConfigRecord({"code": code, "reason": reason})})
