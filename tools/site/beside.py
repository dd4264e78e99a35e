"""What pages link to outside of docs/ comes along, at repo/ of the site.

Links stay as they are read on GitHub: `../src/fedsemi/method.py` leads to a page that
shows the file. Markdown becomes a page like any other, a notebook a page with its
outputs, and a web page is copied as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tools.site.notebook import as_markdown

ROOT = Path(__file__).parents[2]
PLACE = "repo"
OF_THE_PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Pages that are in the navigation, linked to or not."""
_LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)#\s]+)")
_AS_THEY_ARE = (".md", ".html", ".png", ".svg")
_CODE = {".py": "python", ".toml": "toml", ".sh": "bash"}


def linked(text: str, folder: PurePosixPath) -> Iterator[PurePosixPath]:
    """Yield what a page in a folder of the repo links to outside of docs/.

    >>> list(linked("[a](../LICENSE) [b](x.md)", PurePosixPath("docs")))
    [PurePosixPath('LICENSE')]
    """
    for _, link in _LINK.findall(text):
        target = _joined(folder, link)
        if target.parts[0] != "docs":
            yield target


def relinked(text: str, folder: PurePosixPath) -> str:
    """Let the links of a page in a folder of the repo lead to pages of the site.

    >>> relinked("[a](../src/a.py#b) [c](x.md)", PurePosixPath("docs"))
    '[a](repo/src/a.py.md#b) [c](x.md)'
    >>> relinked("[a](docs/x.md) [b](SECURITY.md)", PurePosixPath("."))
    '[a](../x.md) [b](SECURITY.md)'
    """
    here = _on_site(folder / "page.md").parent

    def renamed(found: re.Match[str]) -> str:
        target = _on_site(_joined(folder, found[2]))
        up = [".."] * len(here.parts)
        shared = 0
        for a, b in zip(here.parts, target.parts, strict=False):
            if a != b:
                break
            shared += 1
        return found[1] + "/".join([*up[shared:], *target.parts[shared:]])

    return _LINK.sub(renamed, text)


def all_linked(pages: list[Path]) -> list[PurePosixPath]:
    """List the files that pages link to, and those that these link to in turn."""
    found = dict.fromkeys(map(PurePosixPath, OF_THE_PROJECT))
    waiting = [*(page.relative_to(ROOT) for page in pages), *map(Path, found)]
    while waiting:
        page = waiting.pop()
        text = (ROOT / page).read_text("utf-8")
        for target in linked(text, PurePosixPath(page.parent.as_posix())):
            if target not in found and (ROOT / target).is_file():
                found[target] = None
                waiting += [Path(target)] if target.suffix == ".md" else []
    return list(found)


def shown(path: PurePosixPath) -> dict[str, str | bytes]:
    """Return the files of the site that show a file of the repo, by their names."""
    text = (ROOT / path).read_text("utf-8")
    name = _on_site(path).as_posix()
    if path.suffix == ".ipynb":
        page, pictures = as_markdown(text, path.stem)
        near = name.rsplit("/", 1)[0]
        return {name: relinked(page, path.parent)} | {
            f"{near}/{picture}": data for picture, data in pictures.items()
        }
    if path.suffix == ".md":
        return {name: relinked(text, path.parent)}
    if path.suffix == ".html":
        return {name: text}
    fence = "````"
    language = _CODE.get(path.suffix, "text")
    return {name: f"# {path.name}\n\n`{path}`\n\n{fence}{language}\n{text}{fence}\n"}


def _on_site(path: PurePosixPath) -> PurePosixPath:
    if path.parts[:1] == ("docs",):
        return PurePosixPath(*path.parts[1:])
    as_it_is = path.suffix in _AS_THEY_ARE
    return PurePosixPath(PLACE) / (path if as_it_is else f"{path}.md")


def _joined(folder: PurePosixPath, link: str) -> PurePosixPath:
    """Follow a link; `..` is taken back without asking the disk."""
    parts: list[str] = []
    for part in (folder / link).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)
