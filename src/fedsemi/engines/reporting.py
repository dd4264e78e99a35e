"""An engine whose labeled clients report on held-out images, as real sites do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
        return list(self._reported(tasks, self.engine.run(tasks)))

    def arriving(self, tasks: Sequence[Task]) -> Iterator[Answer]:
        """Carry out the tasks; add what labeled clients find, as answers come."""
        return self._reported(tasks, self.engine.arriving(tasks))

    def _reported(
        self, tasks: Sequence[Task], answers: Iterable[Answer]
    ) -> Iterator[Answer]:
        asked = {(task.group, task.client): task for task in tasks}
        for answer in answers:
            if isinstance(answer, Update) and answer.client in self._held_out:
                task = asked[answer.group, answer.client]
                held_out = self._held_out[answer.client]
                yield with_findings(answer, held_out, self._setup, task)
            else:
                yield answer
