"""Sites that answer: the judged ones, and those that the server simulates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsemi.config.experiment import Experiment
from fedsemi.data.dataset import ImageSet
from fedsemi.leakage.answers import (
    COUNTS,
    MODEL,
    Answers,
    Layout,
    Single,
    alike,
    ask,
    check_fits,
)
from fedsemi.leakage.attackers import Look, views_of
from fedsemi.leakage.scene import Kind, Parts, blueprint_of, deal
from fedsemi.leakage.scores import Rows
from fedsemi.leakage.seen import Form, Groups, clip_of, draw_groups, seen, shares_of
from fedsemi.messages import Task
from fedsemi.method import Method
from fedsemi.objectives.workbench import Setup
from fedsemi.seeds import seed_of

EVERYTHING = "all of it"
_GROUPS = 200
"""Sums that are learned from, and judged, if more than one site is in each."""


@dataclass(frozen=True, eq=False)
class Side:
    """Sites of one part of the images, with what they answered."""

    name: str
    images: ImageSet
    answers: Answers


@dataclass(frozen=True, eq=False)
class Glimpse:
    """What the server sees of one side in one form."""

    groups: Groups
    rows: Mapping[str, Rows]
    """By thing, one for each group; no model if its mean is not one of shares."""


@dataclass(frozen=True, eq=False)
class Play:
    """All that one method and seed are judged by, for one kind of site."""

    setup: Setup
    method: Method[Any]
    task: Task
    kind: Kind
    seed: int
    judged: Side
    server: tuple[Side, Side]

    @property
    def layout(self) -> Layout:
        """Of the model."""
        return Layout.of(self.task.weights)

    @property
    def num_classes(self) -> int:
        """C."""
        return self.setup.model.num_classes

    def glimpse(self, side: Side, form: Form) -> Glimpse:
        """Show the server one side."""
        groups = self._groups(side, form)
        mean = self._shares(side, groups, form)
        found = {}
        for thing, rows in side.answers.things.items():
            weighted = thing == MODEL and form.sites > 1
            if (weighted and mean is None) or not form.shows(thing, self.method):
                continue
            shares = mean if weighted else None
            noise = self._seed(side.name, form.name, thing)
            clip = self._clip(thing, form)
            found[thing] = seen(rows, groups, form, shares, clip, noise)
        return Glimpse(groups, found)

    def look(self, side: Side, glimpse: Glimpse) -> tuple[Look, dict[str, list[str]]]:
        """Lay out the views of all things, and say which views show which thing."""
        rows = glimpse.rows
        views = {thing: rows[thing] for thing in rows if thing != MODEL}
        things = {thing: [thing] for thing in views}
        if MODEL in rows:
            images = rows[COUNTS][:, :2].sum(1)
            steps = views_of(rows[MODEL], self.layout, self.num_classes, images)
            beside = np.concatenate([steps["head bias"], *views.values()], axis=1)
            views |= {**steps, "head bias and all beside": beside}
            things = {MODEL: list(steps), **things, EVERYTHING: list(views)}
        truth = side.answers
        return Look(views, glimpse.groups, truth.shares, truth.owns), things

    def _groups(self, side: Side, form: Form) -> Groups:
        seed = self._seed(side.name, "groups", str(form.sites))
        return draw_groups(len(side.answers.sites), form.sites, _GROUPS, seed)

    def _shares(self, side: Side, groups: Groups, form: Form) -> Single | None:
        if form.sites == 1:
            return None
        return shares_of(self.method, side.answers, groups)

    def _clip(self, thing: str, form: Form) -> float:
        """Take the clip from simulated sites, which is what a plan could do."""
        if not form.noise:
            return 0.0
        side = self.server[0]
        groups = self._groups(side, form)
        shares = self._shares(side, groups, form) if thing == MODEL else None
        return clip_of(side.answers.things[thing], groups, shares)

    def _seed(self, *names: str) -> int:
        return seed_of(self.seed, "leak", *names)


def set_up(
    experiment: Experiment, parts: Parts, task: Task, kind: Kind, sites: int
) -> Play:
    """Deal out sites of each part, and let all of them answer the same task."""
    blueprint, stage = blueprint_of(experiment, parts.judged), experiment.stages[-1]
    method, seed = blueprint.method(stage), experiment.seed
    check_fits(task.weights, 3 * sites)
    images = {"judged": parts.judged, "a": parts.server[0], "b": parts.server[1]}
    answers = []
    for name, part in images.items():
        own = seed_of(seed, "leak", name)
        dealt = deal(experiment, part, kind, sites, own)
        answers.append(ask(method, task, dealt, part.num_classes, own))
    judged, first, second = (
        Side(name, part.train, each)
        for (name, part), each in zip(images.items(), alike(answers), strict=True)
    )
    setup = blueprint.setup(stage)
    return Play(setup, method, task, kind, seed, judged, (first, second))
