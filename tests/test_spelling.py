"""Code, comments and documents are spelled as the paper is: labeled, not labelled."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLACES = ("src", "tests", "docs", "benchmarks", "examples", "tools", ".")
ENDINGS = {".py", ".md", ".toml", ".js", ".css", ".html", ".cff", ".yml", ".yaml"}

# Beginnings that take -ize and -izing, where others write -ise and -ising.
_IZE = """
    anonym author binar capital categor central character custom digit emphas equal
    final formal general harmon initial local maxim memor minim modern modular neutral
    normal optim organ parallel parameter parametr penal polar prior quant random
    real recogn regular serial solar special stabil standard summar symbol synchron
    token util vector visual
"""
_OUR = "behavi col end?eav fav flav harb hon hum lab neighb rig rum tum vap vig"
_DOUBLED = "cance chann counse fue labe leve mode pane signa tota trave tunne"
_WHOLE = """
    anal[oy]gue analys(?:e|ed|ing) artefacts? centred? centres defence enrol(?:s|ment)?
    fibres? fulfil fulfils grey\\w* judgement learnt licences? litres? maths metres?
    misspelt offence programmes? sceptic\\w* spelt storeys whilst
"""
_PATTERNS = (
    rf"(?:{'|'.join(_IZE.split())})is(?:e[drs]?|ing|ations?|able)",
    rf"(?:re)?(?:{'|'.join(_OUR.split())})our(?:s|ed|ing|able|al|ful|hood)*",
    rf"(?:{'|'.join(_DOUBLED.split())})ll(?:ed|ing|er|ers)",
    "|".join(_WHOLE.split()),
)
# Words stand between anything that is no letter, so that names of functions count.
BRITISH = re.compile(rf"(?<![a-z])(?:un|re)?(?:{'|'.join(_PATTERNS)})(?![a-z])", re.I)

# Words that are part of something else: a column that kept tables have.
KEPT = {("src/fedsemi/evidence/render.py", "artefact")}


def _files() -> Iterator[Path]:
    for place in PLACES:
        every = (ROOT / place).glob("*" if place == "." else "**/*")
        yield from (path for path in every if path.suffix in ENDINGS)


def _british(text: str) -> list[str]:
    return [found[0].lower() for found in BRITISH.finditer(text)]


def test_no_word_is_spelled_the_british_way() -> None:
    found = []
    for path in _files():
        if path == Path(__file__):
            continue
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            wrong = {word for word in _british(line) if (name, word) not in KEPT}
            found += [f"{name}:{number} {word}" for word in sorted(wrong)]
    assert not found, "\n".join(found)


_BRITISH = "a grey image/COLOUR/keeps_grey/unnormalised/Centred/recolours/modelling"
_AMERICAN = "aria-labelledby/raised/four/our/enrolled/controlled/supervised/hours/color"


@pytest.mark.parametrize("text", _BRITISH.split("/"))
def test_british_words_are_found_in_names_and_capitals(text: str) -> None:
    assert _british(text)


@pytest.mark.parametrize("text", _AMERICAN.split("/"))
def test_other_words_are_left_alone(text: str) -> None:
    assert not _british(text)
