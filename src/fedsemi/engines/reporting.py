"""An engine whose labeled clients report on held-out images, as real sites do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fedsemi.client.findings import with_findings
from fedsemi.data.dataset import ImageSet
from fedsemi.engine import Engine, WrappedEngine
from fedsemi.messages import Answer, Task, Update
from fedsemi.objectives.workbench import Setup


class Reporting(WrappedEngine):
    """Adds what labeled clients find to their answers."""

    def __init__(
        self, engine: Engine, held_out: Mapping[int, ImageSet], setup: Setup
    ) -> None:
        super().__init__(engine)
        self._held_out = held_out
        self._setup = setup

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        """Carry out the tasks; add what labeled clients find."""
        asked = {(task.group, task.client): task for task in tasks}
        return [
            with_findings(
                update,
                self._held_out[update.client],
                self._setup,
                asked[update.group, update.client],
            )
            if isinstance(update, Update) and update.client in self._held_out
            else update
            for update in self.engine.run(tasks)
        ]
