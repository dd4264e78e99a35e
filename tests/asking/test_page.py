"""The page on which a person labels: who may ask, for what, and what it does."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from PIL import Image
from tests.data.pictures import save_picture
from tests.report.browser import CHROMIUM, Browser

from fedsemi.asking.asker import Asker
from fedsemi.asking.desk import Desk
from fedsemi.asking.page import AskPage, asking
from fedsemi.asking.shelf import Shelf
from fedsemi.report.local_server import HOST


@pytest.fixture
def server(desk: Desk, asker: Asker) -> Iterator[AskPage]:
    with asking(desk, asker.card.pixels) as found:
        yield found


def request(
    server: AskPage, kind: str, path: str, token: str | None = None, **headers: str
) -> tuple[int, str, dict[str, str]]:
    """Ask as the page does, but for what is said otherwise."""
    connection = HTTPConnection(HOST, server.server_port, timeout=20)
    place = f"{HOST}:{server.server_port}"
    sent = {"Host": place, "Origin": f"http://{place}", "Sec-Fetch-Site": "same-origin"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    secret = server.token if token is None else token
    connection.request(kind, f"/{secret}/{path}", headers=sent)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), dict(answer.headers)


def test_the_page_holds_the_queue_and_allows_nothing_from_elsewhere(
    server: AskPage,
) -> None:
    status, text, headers = request(server, "GET", "")
    assert status == 200
    view = json.loads(re.findall(r'id="data">(.*?)</script>', text)[0])
    assert len(view["rows"]) == 5
    assert view["classes"] == list(server.desk.shelf.classes)
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_an_answer_is_in_the_table_when_the_page_hears_of_it(server: AskPage) -> None:
    status, text, _ = request(server, "POST", "label/3/2")
    assert status == 200
    label = server.desk.shelf.classes[2]
    assert json.loads(text)["rows"][3]["label"] == label
    assert server.desk.shelf.pictures()[1] == {server.desk.file(3): label}
    assert json.loads(request(server, "POST", "undo")[1])["at"] == 3
    assert server.desk.shelf.pictures()[1] == {}
    assert json.loads(request(server, "POST", "skip/0")[1])["rows"][0]["skipped"]


def test_a_picture_is_shown_as_large_as_it_is(server: AskPage) -> None:
    for path, size in (("picture/0", (30, 20)), ("thumbnail/0", (30, 20))):
        status, text, _ = request(server, "GET", path)
        assert status == 200
        content = base64.b64decode(text.partition("base64,")[2])
        assert Image.open(io.BytesIO(content)).size == size


@pytest.mark.parametrize("token", ["", "x", "é", "..", "a" * 32])
@pytest.mark.parametrize(("kind", "path"), [("GET", ""), ("POST", "label/0/0")])
def test_nobody_without_the_secret_sees_or_changes_anything(
    kind: str, path: str, token: str, server: AskPage
) -> None:
    if not token.isascii():
        token = token.encode().decode("latin-1")
        token = re.sub(r"[^\x00-\x7f]", "%C3", token)
    assert request(server, kind, path, token)[:2] == (404, "there is nothing here")
    assert server.desk.counts == (0, 0)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_a_page_from_elsewhere_cannot_answer_even_if_it_knew_the_secret(
    headers: dict[str, str], server: AskPage
) -> None:
    assert request(server, "POST", "label/0/0", **headers)[0] == 403
    assert server.desk.counts == (0, 0)
    assert server.desk.shelf.pictures()[1] == {}


def test_a_link_cannot_label(server: AskPage) -> None:
    assert request(server, "GET", "label/0/0")[0] == 404
    assert request(server, "PUT", "label/0/0")[0] == 405
    assert server.desk.counts == (0, 0)


@pytest.mark.parametrize(
    "path",
    [
        "picture/../../secret.png",
        "picture/..%2f..%2fsecret.png",
        "picture/-1",
        "picture/99999999",
        "picture/0/0",
        "picture",
        "picture/٣".encode().decode("latin-1").replace("Ù", "%D9").replace("£", "%A3"),
        "?x=1",
        ".fedsemi-ask.json",
        "labels.csv",
    ],
)
def test_there_is_nothing_but_the_rows_of_the_queue(path: str, server: AskPage) -> None:
    save_picture(server.desk.shelf.folder.parent / "secret.png", 5)
    assert request(server, "GET", path)[0] == 404


@pytest.mark.parametrize("path", ["label/5/0", "label/0/4", "skip/5"])
def test_rows_and_classes_beyond_the_list_are_refused_in_one_line(
    path: str, server: AskPage
) -> None:
    status, text, _ = request(server, "POST", path)
    assert status == 400
    assert re.fullmatch(r"FS640[07] there is no .*", text)
    assert server.desk.shelf.pictures()[1] == {}


def test_a_picture_that_was_changed_for_a_link_is_not_shown(server: AskPage) -> None:
    secret = save_picture(server.desk.shelf.folder.parent / "secret.png", 5)
    picture = server.desk.shelf.folder / server.desk.file(0)
    picture.unlink()
    picture.symlink_to(secret)
    status, text, _ = request(server, "GET", "picture/0")
    assert status == 410
    assert "symbolic link" in text


def test_a_table_that_was_damaged_meanwhile_is_told_and_kept(server: AskPage) -> None:
    table = server.desk.shelf.folder / "labels.csv"
    table.write_text("nonsense\n")
    status, text, _ = request(server, "POST", "label/0/0")
    assert status == 400 and "FS3201" in text
    assert table.read_text() == "nonsense\n"


def test_every_page_has_another_secret_and_stays_on_this_machine(
    desk: Desk, asker: Asker
) -> None:
    with asking(desk, asker.card.pixels) as one, asking(desk, asker.card.pixels) as two:
        assert one.token != two.token
        assert len(one.token) >= 32
        assert one.server_address[0] == "127.0.0.1"


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")


@needs_browser
@pytest.mark.slow
def test_a_person_labels_by_keyboard(server: AskPage, tmp_path: Path) -> None:
    name = "document.querySelector('.name').textContent"
    with Browser(tmp_path / "profile") as browser:
        browser.watch()
        browser.resize(390, 844)
        browser("Page.navigate", url=server.address)
        browser.wait("document.querySelector('.asked')?.naturalWidth === 30")
        assert browser.js("document.querySelector('.guess').textContent") == ""
        browser.key("2")
        browser.wait(f"{name}.startsWith('2 of 5')")
        assert server.desk.view()["rows"][0]["label"] == server.desk.shelf.classes[1]
        browser.key("s")
        browser.wait(f"{name}.startsWith('3 of 5')")
        browser.key("9")  # there are four classes
        browser.key("Backspace")
        browser.wait(f"{name}.startsWith('2 of 5')")
        assert server.desk.counts == (1, 0)
        browser.key("?")
        browser.wait("document.querySelector('.guess').textContent.includes('thinks')")
        for _ in range(4):
            done = sum(server.desk.counts)
            browser.key("1")
            browser.wait(f"document.getElementById('progress').value === {done + 1}")
        browser.wait(
            "document.getElementById('subtitle').textContent.startsWith('All 5')"
        )
        assert server.desk.counts == (5, 0)
        assert browser.js("document.documentElement.scrollWidth") == 390
        assert browser.complaints() == []


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize(
    ("classes", "keys", "label"),
    [
        (("0", "1", "2", "7"), "7", "7"),
        (tuple(f"kind {n}" for n in range(40)), "a", "kind 9"),
        (tuple(f"kind {n}" for n in range(40)), ("/", "kind 38", "Enter"), "kind 38"),
    ],
    ids=["own", "letter", "found"],
)
def test_every_class_can_be_reached_by_keyboard(
    classes: tuple[str, ...],
    keys: str | tuple[str, ...],
    label: str,
    shelf: Shelf,
    asker: Asker,
    tmp_path: Path,
) -> None:
    queue, _ = asker.queue(shelf, "random", 2)
    desk = Desk(Shelf(shelf.folder, classes), queue)
    with (
        asking(desk, asker.card.pixels) as server,
        Browser(tmp_path / "profile") as browser,
    ):
        browser("Page.navigate", url=server.address)
        browser.wait("document.querySelector('.asked')?.naturalWidth === 30")
        for key in keys:
            if key.startswith("kind"):
                browser("Input.insertText", text=key)
            else:
                browser.key(key)
        browser.wait("document.querySelector('.name').textContent.startsWith('2 of')")
    assert desk.view()["rows"][0]["label"] == label
