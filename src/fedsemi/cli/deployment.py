"""Commands for a federation of real sites, and for what they send."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from fedsemi.cards import SERVER
from fedsemi.cli.options import ConfigPath, DataDir, Overrides, require_flower
from fedsemi.client.findings import with_findings
from fedsemi.config.experiment import Experiment, Stage, load_config
from fedsemi.config.files import read_settings
from fedsemi.config.privacy import said_of
from fedsemi.data.augment import pre_size
from fedsemi.data.folder import read_site
from fedsemi.data.site import Site, read_id, write_site, write_test_set
from fedsemi.deployment.site.agreement import Agreement
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import ConfigError, DataError, Interrupted
from fedsemi.messages import Update
from fedsemi.simulation.build import Simulation, build
from fedsemi.storage import make_folder, write_whole
from fedsemi.text.printable import typed
from fedsemi.text.screen import Screen, say

_Host = Annotated[list[str] | None, typer.Option("--host", help="Name or address.")]
_Coordinator = Annotated[Path, typer.Argument(help="Folder with plan.json and keys/.")]


def deal(
    config: ConfigPath,
    out: Annotated[Path, typer.Option(help="Folder of the federation.")],
    overrides: Overrides = None,
    data_dir: DataDir = None,
) -> None:
    """Deal a data set out to the folders of a coordinator and its sites.

    The coordinator gets plan.json and the test images, each site its own images; no
    site gets the labels of its unlabeled images.
    """
    simulation = build(_load_guarded(config, overrides or []), data_dir)
    deal_out(simulation, out)
    if simulation.experiment.setting.card == "LS":
        Screen().print(f"site-{SERVER} has the server's own labels: run it yourself")
    Screen().print(
        f"wrote {out}/coordinator and {len(simulation.federation.clients)} sites; "
        f"next: {typed('fedsemi', 'certificates', out)}",
        soft_wrap=True,
    )


def _load_guarded(config: Path, overrides: Sequence[str]) -> Experiment:
    """Read the config of a deployment: the guard is on unless it says otherwise."""
    experiment = load_config(config, overrides)
    if "enabled" not in read_settings(config, overrides).get("guard", {}):
        experiment = load_config(config, [*overrides, "guard.enabled=true"])
        typer.echo("guard on, as the config does not say ([guard] enabled)")
    elif not experiment.guard.enabled:
        typer.echo("guard off, as the config says: every site is trusted")
    if experiment.privacy.masked:
        typer.echo(said_of(experiment.privacy, experiment.guard))
    return experiment


def deal_out(simulation: Simulation, out: Path) -> None:
    """Write the folders of a federation."""
    coordinator = make_folder(out / "coordinator", private=True)
    write_whole(coordinator / "plan.json", simulation.as_json().encode())
    write_test_set(coordinator, simulation.federation.test)
    federation = simulation.federation
    for client in federation.clients:
        held_out = federation.held_out.get(client.id)
        site = Site(client, simulation.class_names, held_out)
        folder = write_site(out / f"site-{client.id}", site)
        # Who deals the images out has seen them: there is nothing to keep from it.
        Agreement(folder, simulation, site).agree("fedsemi deal", beyond_bounds=True)


def pack(
    config: ConfigPath,
    images: Annotated[Path, typer.Argument(help="The site's folder of images.")],
    number: Annotated[int, typer.Option("--id", min=0, help="The site's own id.")],
    out: Annotated[Path, typer.Option(help="Folder for `fedsemi site --data`.")],
) -> None:
    """Turn a folder of images into the folder that a site works in; run at the site.

    The config's [sites] says what the classes are and how pictures become pixels.
    """
    experiment = load_config(config)
    if experiment.sites is None:
        raise ConfigError(
            f"'{config}' has no [sites]; see docs/your-own-images.md", code="FS4105"
        )
    side = pre_size(experiment.data.image_size or 32)
    found = read_site(images, experiment.sites, side)
    fraction = experiment.evaluation.validation_fraction
    client, held_out = found.divided(number, fraction, experiment.seed)
    write_site(out, Site(client, tuple(experiment.sites.classes), held_out))
    apart = f" and {len(held_out)} held out" if held_out else ""
    Screen().print(
        f"site {number}: {client.num_labeled} labeled{apart} and "
        f"{client.num_unlabeled} unlabeled images in {out}",
        soft_wrap=True,
    )


def certificates(
    folder: Annotated[Path, typer.Argument(help="Folder that `fedsemi deal` wrote.")],
    host: _Host = None,
) -> None:
    """Make a CA, the coordinator's certificate and a key for every site of a trial."""
    require_flower()
    from fedsemi.deployment.certificates import make_certificates
    from fedsemi.deployment.one_machine.trial import site_folders

    sites = site_folders(folder)
    if not sites:
        raise DataError(
            f"there is no site in '{folder}'; write some with `fedsemi deal`",
            code="FS3020",
        )
    # The coordinator's own processes call it on this machine.
    hosts = list(dict.fromkeys([*(host or []), "127.0.0.1", "localhost"]))
    make_certificates(folder / "coordinator", sites, hosts)
    Screen().print(
        f"keys for {', '.join(hosts)} and {len(sites)} sites, valid for 30 days",
        soft_wrap=True,
    )


def key(
    folder: Annotated[Path, typer.Argument(help="The site's folder.")],
) -> None:
    """Make the key of a site, at the site; only its public half leaves it.

    Example: fedsemi key site-0
    """
    require_flower()
    from fedsemi.deployment.certificates import new_site_key

    number = read_id(folder)
    public = new_site_key(folder)
    name = "N.pub, N being the site's id" if number is None else f"{number}.pub"
    Screen().print(
        f"wrote the key of this site; send {public} to the coordinator, who saves it "
        f"as enrolled/site-{name}",
        soft_wrap=True,
    )


def server(
    folder: _Coordinator,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port for everything.")] = 9092,
    sites: Annotated[int, typer.Option(help="Sites to wait for; 0 for all.")] = 0,
    deadline: Annotated[float, typer.Option(help="Seconds per round.")] = 600.0,
    quorum: Annotated[float, typer.Option(help="Share that must answer.")] = 0.5,
    join: Annotated[float, typer.Option(help="Seconds to wait for sites.")] = 600.0,
) -> None:
    """Coordinate a federation: TLS, authenticated sites, one run, then stop.

    Example: fedsemi server trial/coordinator
    """
    require_flower()
    from fedsemi.deployment.coordinator.coordinator import Coordinator
    from fedsemi.deployment.coordinator.engine import Patience
    from fedsemi.deployment.processes import end_on_sigterm

    end_on_sigterm()
    patience = Patience(deadline, quorum)
    coordinator = Coordinator(folder, host, port, sites, patience, join)
    try:
        coordinator.run(say)
    except KeyboardInterrupt:
        again = typed("fedsemi", "server", folder)
        raise Interrupted(f"stopped; continue with `{again}`") from None
    say(f"done; model and records in {folder / 'run'}")


def federation(
    config: ConfigPath,
    out: Annotated[Path, typer.Option(help="Folder of the federation.")] = Path(
        "runs/federation"
    ),
    overrides: Overrides = None,
    data_dir: DataDir = None,
) -> None:
    """Try a whole federation on this machine: a coordinator and its sites over TLS."""
    require_flower()
    from fedsemi.deployment.one_machine.trial import run_trial
    from fedsemi.deployment.processes import end_on_sigterm

    end_on_sigterm()
    simulation = build(_load_guarded(config, overrides or []), data_dir)
    started = time.perf_counter()
    deal_out(simulation, out)
    run_trial(out, say)
    say(f"{time.perf_counter() - started:.0f} s; records in {out}/coordinator/run")


def wire(
    config: ConfigPath, overrides: Overrides = None, data_dir: DataDir = None
) -> None:
    """Print every field that leaves a site, and its size, from one real round.

    The sites with the most labeled and with the most unlabeled images answer.
    """
    from fedsemi.client.wire import fields_of, measured_fields

    simulation = build(load_config(config, overrides or []), data_dir)
    field_name = Column("field", no_wrap=True)
    heads = ("stage", field_name, "kind", "bytes", "what it is")
    table = Table(*heads, box=None, pad_edge=False)
    for stage in simulation.experiment.stages:
        with one_thread():
            answers = list(_answers(simulation, stage))
        fields = {field.name: field for each in answers for field in fields_of(each)}
        method = simulation.method(stage)
        for field in measured_fields(method, answers[0].weights):
            fields[field.name] = field
        for field in fields.values():
            size = f"{field.num_bytes:,}"
            table.add_row(stage.method, field.name, field.kind, size, field.meaning)
    Screen().print(table)


def _answers(simulation: Simulation, stage: Stage) -> Iterator[Update]:
    """Let a site of each kind, as far as the stage asks it, answer one task."""
    method, federation = simulation.method(stage), simulation.federation
    clients = {client.id: client for client in federation.clients}
    infos = [client.info for client in clients.values()]
    tasks = method.plan(method.init(simulation.initial_weights(), infos))
    unlabeled = max(tasks, key=lambda task: clients[task.client].num_unlabeled)
    labeled = max(tasks, key=lambda task: clients[task.client].num_labeled)
    for task in {task.client: task for task in (unlabeled, labeled)}.values():
        if method.due(task) is not task.weights:  # begins by measuring: learn instead
            task = replace(task, group=0)
        update, _ = method.train(task, clients[task.client], {})
        held_out = federation.held_out.get(task.client)
        yield with_findings(update, held_out, simulation.setup(stage), task)
