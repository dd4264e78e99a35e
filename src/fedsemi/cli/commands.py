"""All commands in the order of the help."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A command: its name, its module and function, and its line of the help."""

    name: str
    place: str
    help: str
    parts: tuple[Entry, ...] = ()
    """Commands below this one, which does something by itself as well."""

    @property
    def function(self) -> Callable[..., None]:
        """What carries the command out, imported now."""
        module, function = self.place.split(":")
        found = importlib.import_module(f"fedsemi.cli.{module}")
        carried_out: Callable[..., None] = getattr(found, function)
        return carried_out


PANELS: dict[str, tuple[Entry, ...]] = {
    "Begin": (
        Entry(
            "demo",
            "train:demo",
            "Watch SemiAnAgg train ten sites, one with labels and nine without.",
        ),
        Entry(
            "init",
            "folders:init",
            "Write a working config for folders of images, one for each site.",
        ),
        Entry(
            "check",
            "folders:check",
            "Look images over before training: counts, damage, duplicates, leaks, "
            "cost.",
        ),
        Entry("run", "train:run", "Run an experiment and keep its record."),
    ),
    "See and use a run": (
        Entry(
            "report",
            "see:report",
            "Make a page of a run, or compare several; it opens without a network.",
        ),
        Entry(
            "watch",
            "see:watch",
            "Follow a run in the browser, also one started elsewhere; Ctrl-C ends the "
            "page.",
        ),
        Entry(
            "diff",
            "see:diff",
            "Say in what two runs differ: settings, results, and round by round.",
        ),
        Entry(
            "value",
            "value:value",
            "Say what each client is worth, beside its contribution and data size.",
        ),
        Entry(
            "audit-weights",
            "audit_weights:audit_weights",
            "Say how a method weighs sites: how unequally, by what, and with what "
            "gain.",
        ),
        Entry(
            "evaluate",
            "evaluate:evaluate",
            "Test a model on labeled pictures: intervals, calibration, thresholds, "
            "subgroups.",
        ),
        Entry(
            "predict",
            "use:predict",
            "Classify the pictures of a folder; prints CSV with file, class, "
            "probability.",
        ),
        Entry(
            "ask",
            "ask:ask",
            "Ask a person for labels of a site's own pictures, by keyboard; run at the "
            "site.",
        ),
        Entry(
            "export",
            "use:export",
            "Write the model for use without fedsemi, or the record for other tools.",
        ),
        Entry(
            "probe",
            "probe:probe",
            "Train a linear layer on the frozen encoder of a run, and test it.",
        ),
        Entry(
            "rerun",
            "rerun:rerun",
            "Run a finished run again from its own record, and compare bit for bit.",
        ),
    ),
    "Look up": (
        Entry(
            "methods",
            "methods:methods",
            "List the methods with what a site sends, or show all about one.",
        ),
        Entry(
            "settings",
            "settings:settings",
            "Print every setting with its type, default and meaning, or those of one "
            "section.",
        ),
        Entry(
            "settings-cards",
            "cards:settings_cards",
            "List the settings of the field, each a card, or show one and its methods.",
        ),
        Entry(
            "configs",
            "configs:configs",
            "List the configs that come with fedsemi, or copy one to the current "
            "folder.",
        ),
        Entry(
            "encoder",
            "encoder:encoder",
            "Turn pickled weights of an encoder into safetensors, without running "
            "them.",
        ),
        Entry(
            "datasets",
            "datasets:datasets",
            "List the data sets, show one, or download it: fedsemi datasets get NAME.",
        ),
        Entry(
            "plugins",
            "plugins:plugins",
            "List the plug-ins that installed packages announce, or those of a config.",
        ),
        Entry(
            "partition",
            "data:partition",
            "Show who owns which images: a table here, and a heat map as a picture.",
        ),
    ),
    "Compare and reproduce": (
        Entry(
            "compare",
            "evidence:compare",
            "Compare methods on a config of your own, over several seeds.",
        ),
        Entry(
            "reproduce",
            "evidence:reproduce",
            "Make a table or figure of the paper again, with error bars.",
        ),
        Entry(
            "benchmark",
            "benchmark:benchmark",
            "Compare methods under a card: scores, ranks and cost on the same data.",
        ),
        Entry(
            "label-curve",
            "ask:label_curve",
            "Measure in simulation what labels bring, by the rule that asks for them.",
        ),
        Entry(
            "attack",
            "attack:attack",
            "Let unlabeled sites attack, with and without the guard; the gate is "
            "always on.",
        ),
        Entry(
            "leak",
            "leak:leak",
            "Ask what a curious server learns about sites from what they send.",
        ),
    ),
    "Deploy": (
        Entry(
            "federation",
            "deployment:federation",
            "Try a whole federation on this machine: a coordinator and its sites over "
            "TLS.",
        ),
        Entry(
            "deal",
            "deployment:deal",
            "Deal a data set out to the folders of a coordinator and its sites.",
        ),
        Entry(
            "pack",
            "deployment:pack",
            "Turn a folder of images into the folder that a site works in; run at the "
            "site.",
        ),
        Entry(
            "key",
            "deployment:key",
            "Make the key of a site, at the site; only its public half leaves it.",
        ),
        Entry(
            "certificates",
            "deployment:certificates",
            "Make a CA, the coordinator's certificate and a key for every site of a "
            "trial.",
        ),
        Entry(
            "server",
            "deployment:server",
            "Coordinate a federation: TLS, authenticated sites, one run, then stop.",
        ),
        Entry(
            "site",
            "site:site",
            "Work for a coordinator with the images of one folder, until stopped.",
            (
                Entry(
                    "policy",
                    "site:policy",
                    "Write a site's policy, or check it, and say which lines a plan "
                    "breaks.",
                ),
                Entry(
                    "egress",
                    "site:egress",
                    "Say what a plan takes away from a site, or what has left it.",
                ),
                Entry(
                    "pause",
                    "standing:pause",
                    "Be away for a while: the rounds go on without this site, its "
                    "memory stays.",
                ),
                Entry(
                    "return",
                    "standing:come_back",
                    "Take part again after a pause; who has left needs its "
                    "coordinator, too.",
                ),
                Entry(
                    "leave",
                    "standing:leave",
                    "Leave the federation for good; a running `fedsemi site` says so "
                    "and ends.",
                ),
            ),
        ),
        Entry(
            "members",
            "members:members",
            "List the sites of a federation: enrolled, away, left or retired.",
        ),
        Entry(
            "admit",
            "members:admit",
            "Let a site join a federation, also one that is running; nothing is "
            "restarted.",
        ),
        Entry(
            "retire",
            "members:retire",
            "Do without a site from the next round on, and refuse its key at the door.",
        ),
        Entry(
            "agree",
            "agree:agree",
            "Agree to a plan for the site of a folder; without a plan, show what is "
            "agreed.",
        ),
        Entry(
            "wire",
            "deployment:wire",
            "Print every field that leaves a site, and its size, from one real round.",
        ),
    ),
}
"""By the title under which the help shows them."""
