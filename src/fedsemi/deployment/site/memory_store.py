"""A site's memory on its own disk, one file per task, so that it survives restarts."""

from __future__ import annotations

from pathlib import Path

from fedsemi.messages import Memory
from fedsemi.storage import make_folder, read_weights, write_weights

_SUFFIX = ".safetensors"


class MemoryStore:
    """Memories by stage, round and seed of the task that left them.

    The one that the server's next task continues from is kept with the ones after it:
    a coordinator that starts again from its last checkpoint asks for an earlier one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = make_folder(folder, private=True)

    def get(self, stage: int, seed: int) -> Memory:
        """Return the memory that a task left, empty if there is none."""
        if not seed:
            return {}
        found = sorted(self._folder.glob(f"{stage:03}-*-{seed:016x}{_SUFFIX}"))
        return read_weights(found[0]) if found else {}

    def put(self, stage: int, round: int, seed: int, memory: Memory) -> None:
        """Keep a memory, whole or not at all."""
        name = f"{stage:03}-{round:08}-{seed:016x}{_SUFFIX}"
        write_weights(self._folder / name, memory, private=True)

    def forget_before(self, stage: int, round: int, keep: int) -> None:
        """Drop what no server can ask for any more.

        What the task with the seed `keep` left stays: a site whose answers come too
        late is asked to continue from there for as long as none of them arrives.
        """
        oldest, kept = f"{stage:03}-{max(round, 0):08}", f"-{keep:016x}{_SUFFIX}"
        for path in self._folder.glob(f"*{_SUFFIX}"):
            if path.name < oldest and not path.name.endswith(kept):
                path.unlink(missing_ok=True)
