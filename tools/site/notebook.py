"""A notebook with its outputs, as Markdown and pictures."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

Pictures = dict[str, bytes]
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def as_markdown(text: str, stem: str) -> tuple[str, Pictures]:
    """Return the page of a notebook, and its pictures by name.

    >>> cell = {"cell_type": "code", "source": ["1 + 1"], "outputs": [
    ...     {"output_type": "execute_result", "data": {"text/plain": ["2"]}}]}
    >>> print(as_markdown(json.dumps({"cells": [cell]}), "sum")[0])
    ```python
    1 + 1
    ```
    <BLANKLINE>
    ```text title="Out"
    2
    ```
    <BLANKLINE>
    """
    pictures: Pictures = {}
    parts: list[str] = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(_fenced("python", source))
        parts += _outputs(cell["outputs"], stem, pictures)
    return "\n\n".join(parts) + "\n", pictures


def _outputs(
    outputs: list[dict[str, Any]], stem: str, pictures: Pictures
) -> Iterator[str]:
    said = "".join("".join(o["text"]) for o in outputs if o["output_type"] == "stream")
    if said:
        yield _fenced('text title="Out"', said)
    for output in outputs:
        data = output.get("data", {})
        if "image/png" in data:
            name = f"{stem}-{len(pictures) + 1}.png"
            pictures[name] = base64.b64decode("".join(data["image/png"]))
            yield f"![{''.join(data['text/plain'])}]({name})"
        elif "text/html" in data:
            yield f'<div class="output">{"".join(data["text/html"])}</div>'
        elif "text/plain" in data:
            yield _fenced('text title="Out"', "".join(data["text/plain"]))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{_COLOR.sub('', text).rstrip()}\n```"
