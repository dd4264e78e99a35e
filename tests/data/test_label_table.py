from typing import Any

import pytest
from hypothesis import strategies as st

from fedsemi.data.label_table import FOREIGN, read_table
from fedsemi.errors import DataError

CLASSES = ["MEL", "NV", "BCC"]


def test_rows_blanks_and_groups() -> None:
    table = read_table(
        b"file,label,group\na.png,MEL,p1\nb/c.png,,p1\nd.png,NV,\n", "s", CLASSES
    )
    assert table.labels == {"a.png": "MEL", "b/c.png": None, "d.png": "NV"}
    assert table.groups == {"a.png": "p1", "b/c.png": "p1"}
    assert not table.left_out and table.num_rows == 3


def test_mark_of_byte_order_windows_lines_and_column_order_do_not_matter() -> None:
    text = "\ufeffLabel, File\r\nNV,ä😀.png\r\n\r\n"
    assert read_table(text.encode(), "s", CLASSES).labels == {"ä😀.png": "NV"}


def test_slip_is_named_with_its_line_and_the_nearest_class() -> None:
    table = read_table(b"file,label\na.png,MEL\nb.png,MELL\n", "s", CLASSES)
    (bad,) = table.left_out
    assert str(bad) == ("labels.csv line 3: class 'MELL' unknown (did you mean 'MEL'?)")
    assert bad.code == "FS3201" and table.labels == {"a.png": "MEL"}


@pytest.mark.parametrize("label", ["bcc", "BCCC", "CBC"])
def test_slip_may_be_one_of_case_or_of_order(label: str) -> None:
    (bad,) = read_table(f"file,label\na.png,{label}\n".encode(), "s", CLASSES).left_out
    assert (bad.code, bad.line) == ("FS3201", 2)
    assert bad.reason == f"class '{label}' unknown (did you mean 'BCC'?)"


def test_foreign_class_is_left_out_as_such_with_its_line() -> None:
    table = read_table(b"file,label\na.png,NV\nb.png,xyz\n", "s", CLASSES)
    (bad,) = table.left_out
    assert (bad.code, bad.line, bad.file) == (FOREIGN, 3, "b.png")
    assert bad.reason == "class 'xyz' is not in the federation's list"
    assert table.labels == {"a.png": "NV"}


def test_file_with_two_labels_is_left_out_altogether() -> None:
    table = read_table(b"file,label\na,MEL\na,NV\na,MEL\nb,NV\nb,NV\n", "s", CLASSES)
    assert [str(bad) for bad in table.left_out] == [
        "labels.csv line 3: has another label in line 2",
        "labels.csv line 4: is named again after a bad row",
    ]
    assert table.labels == {"b": "NV"}


@pytest.mark.parametrize("path", ["../x.png", "/etc/passwd", "a/../../b", ""])
def test_path_outside_is_refused_with_its_line(path: str) -> None:
    with pytest.raises(DataError, match=r"FS3501 s: labels.csv line 2 points outside"):
        read_table(f'file,label\n"{path}",NV\n'.encode(), "s", CLASSES)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "is empty"),
        (b"bild;klasse\na;NV\n", "columns are 'bild, klasse'"),
        (b"name,label\n", "'file' and 'label'"),
        (b"file,label,label\n", "each once"),
        (b'file,label\n"a"b,NV\n', "line 2"),
        (b'file,label\n"a,NV\n', "quotes"),
        (b"file,label\na\0,NV\n", "zero bytes"),
        (b"file,label\n" + b"a" * 5000 + b",NV\n", "field larger"),
    ],
)
def test_what_is_no_table_is_refused(content: bytes, part: str) -> None:
    with pytest.raises(DataError, match="FS3201") as error:
        read_table(content, "s", CLASSES)
    assert part in str(error.value)


def test_short_row_is_left_out() -> None:
    (bad,) = read_table(b"file,label\na.png\n", "s", CLASSES).left_out
    assert str(bad) == "labels.csv line 2: has 1 fields, not 2"


CELLS = st.sampled_from(
    [
        "a.png",
        "b",
        "MEL",
        "MELL",
        "NV",
        "",
        '"',
        '""',
        ",",
        ";",
        "\r",
        "\n",
        "../x",
        "\ufeff",
        "\0",
        "é",
        "\udcff",
        "xyz",
        " ",
        "'",
    ]
)
TABLES = st.one_of(
    st.binary(max_size=80),
    st.lists(CELLS, max_size=20).map(
        lambda cells: (
            b"file,label\n" + ",".join(cells).encode("utf-8", "surrogateescape")
        )
    ),
    st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=8).map(
        lambda rows: (
            b"file,label,group\n"
            + "\n".join(",".join(row) for row in rows).encode(
                "utf-8", "surrogateescape"
            )
        )
    ),
)


def _only_known_errors(content: bytes) -> None:
    try:
        table = read_table(content, "s", CLASSES)
    except DataError as error:
        assert error.code in ("FS3201", "FS3202", "FS3501")
    else:
        assert set(table.labels.values()) <= {*CLASSES, None}
        assert len(table.labels) + len(table.left_out) <= table.num_rows


IN3 = "IN-3 tables of any bytes, no traceback"


def test_any_bytes_give_a_table_or_one_line(tried_on: Any) -> None:
    tried_on(IN3, 300, _only_known_errors, TABLES)


@pytest.mark.slow
def test_five_thousand_tables_give_no_traceback(tried_on: Any) -> None:
    tried_on(IN3, 5000, _only_known_errors, TABLES)
