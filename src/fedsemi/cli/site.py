"""The commands of a site's owner: work, set rules, see what leaves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from fedsemi.cli.agree import proposed, standing
from fedsemi.cli.options import require_flower
from fedsemi.client.wire import Field, expected_fields
from fedsemi.config.blueprint import Blueprint
from fedsemi.data.site import read_site
from fedsemi.deployment.site.agreement import Agreement, allowed_by
from fedsemi.deployment.site.ledger import LEDGER, Ledger
from fedsemi.deployment.site.policy import (
    POLICY,
    Policy,
    line_of,
    read_policy,
    rule_values,
)
from fedsemi.deployment.site.policy_file import toml, write_start
from fedsemi.errors import ConfigError
from fedsemi.messages import ClientInfo
from fedsemi.method import innermost
from fedsemi.text.leaks import known_leak
from fedsemi.text.printable import typed
from fedsemi.text.screen import Screen, say

_Folder = Annotated[Path, typer.Argument(help="The site's folder.")]
_Plan = Annotated[
    Path | None, typer.Argument(help="The plan, received from a trusted hand.")
]
_INTRODUCED = "who it is, counts, classes, hashes of network, anchor, plan and policy"


def site(
    context: typer.Context,
    data: Annotated[Path | None, typer.Option(help="The site's folder.")] = None,
    server: Annotated[str, typer.Option(help="host:port of the coordinator.")] = (
        "127.0.0.1:9092"
    ),
    key: Annotated[Path | None, typer.Option(help="Private key of the site.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps.")] = None,
) -> None:
    """Work for a coordinator with the images of one folder, until stopped.

    Example: fedsemi site --data trial/site-0 --server coordinator.example.org:9092
    """
    if context.invoked_subcommand:
        return
    if data is None:
        raise ConfigError(
            "Missing option '--data', the site's folder; see `fedsemi site --help`",
            code="FS4112",
        )
    require_flower()
    from fedsemi.deployment.processes import end_on_sigterm
    from fedsemi.deployment.site.node import Node

    end_on_sigterm()
    say(_policy_line(read_policy(data)))
    say(standing(data))
    say(f"working for {server}; log in {data / 'flower'}; Ctrl-C stops")
    try:
        Node(data, server, key, device).work(say)
    except KeyboardInterrupt:
        typer.echo("stopped")


def policy(folder: _Folder, plan: _Plan = None) -> None:
    """Write a site's policy, or check it, and say which lines a plan breaks.

    Without a file the same rules hold as in the one that is written here. A file that
    cannot be read stops all answers.

    Example: fedsemi site policy site-0 plan.json
    """
    found = read_policy(folder)
    if plan is not None:
        _explain(found, proposed(folder, plan, allowed_by(folder)))
        return
    if found.text is None:
        path = write_start(folder)
        say(f"wrote {path}, which says what holds without it; change it as you like")
        found = read_policy(folder)
    table = Table(Column("line", justify="right"), "rule", "value", box=None)
    for rule, value in rule_values(found.rules):
        line = line_of(found.text or "", rule)
        table.add_row("default" if line is None else str(line), rule, _shown(value))
    Screen().print(table)
    say(_policy_line(found))
    spent = Ledger(folder, found).spent()
    told = f"ε = {spent:.3g} at δ = {found.rules.budget.delta:g}"
    if spent == math.inf:
        told = "no ε holds, for answers were given without noise against"
        told += f" the {found.rules.budget.against}"
    say(f"spent so far: {told} ({LEDGER})")


def egress(
    folder: _Folder,
    plan: _Plan = None,
    log: Annotated[bool, typer.Option(help="What has left, instead.")] = False,
) -> None:
    """Say what a plan takes away from a site, or what has left it.

    What is known to leak from each field is in a few words; docs/what-a-site-reveals.md
    has the figures. The log has each field with its SHA-256, in egress.jsonl.

    Example: fedsemi site egress site-0 plan.json
    """
    if log:
        _show_log(folder)
        return
    if plan is None:
        raise ConfigError(
            "give the plan whose answers you want to see, or --log for what has left: "
            f"`{typed('fedsemi', 'site', 'egress', folder)} plan.json`",
            code="FS4112",
        )
    agreement = proposed(folder, plan, allowed_by(folder))
    holds_out = agreement.policy.reported_on(agreement.site) is not None
    _show_expected(agreement.blueprint, holds_out)
    refused = next(agreement.refused(), None)
    if refused is not None:
        where = agreement.policy.place(refused.rule)
        say(f"refused by the site's policy as it stands: {refused.why} ({where})")


def _policy_line(found: Policy) -> str:
    where = "the default one" if found.text is None else POLICY
    return f"policy: {where} (sha256 {found.sha256[:12]})"


def _explain(found: Policy, agreement: Agreement) -> None:
    """Name every line that a plan breaks, as it stands in the file."""
    name = f"plan {agreement.blueprint.sha256[:12]}"
    refused = list(agreement.refused())
    if not refused:
        say(f"{name} is within the policy")
    for broken in refused:
        line = line_of(found.text or "", broken.rule)
        stands = "a default" if line is None else f"line {line}"
        told = f"{broken.rule}: {broken.why}; {broken.remedy}"
        say(f"{name} is refused by {stands}, {told}")


def _show_expected(blueprint: Blueprint, holds_out: bool) -> None:
    total = 0
    for stage in blueprint.experiment.stages:
        method = blueprint.method(stage)
        # What travels is the same for all clients, of whatever kind.
        plain, one = innermost(method), [ClientInfo(0, 1, 1)]
        # Not `initial_weights`: the plan's start is a file of the coordinator.
        state = plain.init(blueprint.model.start(0), one)
        classes = blueprint.model.num_classes
        fields = list(expected_fields(method, state.whole, classes, holds_out))
        field = Column("field", overflow="fold")
        heads = (field, Column("bytes", justify="right"), "known to leak")
        table = Table(*heads, box=None, pad_edge=False)
        for shown, size, leak in _together(fields):
            table.add_row(shown, f"{size:,}", leak)
        say(f"in each of {stage.rounds} rounds of {stage.method}:")
        Screen().print(table)
        typer.echo()
        total += stage.rounds * sum(field.num_bytes for field in fields)
    say(f"once, before the first round: {_INTRODUCED}")
    say(f"in all rounds at most {_size(total)}; a task may be asked again")


def _together(fields: Iterable[Field]) -> Iterator[tuple[str, int, str]]:
    """Take together of one kind what leaks the same; metrics are counted only."""
    groups: dict[tuple[str, str], list[Field]] = {}
    for field in fields:
        kind = field.name.partition(".")[0] if "." in field.name else ""
        groups.setdefault((kind, known_leak(field.name)), []).append(field)
    for (kind, leak), group in groups.items():
        names = ", ".join(field.name for field in group)
        shown = f"metrics.* ({len(group)})" if kind == "metrics" else names
        yield shown, sum(field.num_bytes for field in group), leak


def _show_log(folder: Path) -> None:
    require_flower()
    from fedsemi.deployment.site.egress import EGRESS, read_log

    read_site(folder)
    heads = ("time", "plan", "stage", "round", "field")
    table = Table(*heads, Column("bytes", justify="right"), "sha256", box=None)
    lines = read_log(folder)
    for line in lines:
        cells: list[Any] = [line[head] for head in heads]
        shown = ["" if cell is None else str(cell) for cell in cells]
        table.add_row(*shown, f"{line['bytes']:,}", str(line["sha256"])[:12])
    if lines:
        Screen().print(table)
    total = sum(line["bytes"] for line in lines)
    say(f"{len(lines)} fields, {_size(total)}; whole hashes in {folder / EGRESS}")


def _shown(value: Any) -> str:
    if value is None:
        return "no limit"
    names = isinstance(value, list) and value
    return ", ".join(value) if names else toml(value)


def _size(count: float) -> str:
    """Write bytes as people do.

    >>> _size(500), _size(44_700_000)
    ('500 B', '44.7 MB')
    """
    if count < 1000:
        return f"{count:.0f} B"
    power = min(int(math.log10(count) // 3), 4)
    return f"{count / 1000**power:.1f} {' kMGT'[power]}B"
