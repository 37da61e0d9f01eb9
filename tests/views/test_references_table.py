"""The table of references: one value makes a column, in whatever rows the table shows."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, SetReference
from refbrowser.views import references
from refbrowser.views.changed_rows import Difference, changed_rows
from refbrowser.views.rows import RowStyle

DOCUMENT = {
    "version": 1,
    "templates": {},
    "gen": [
        {"key": "t/{{i}}", "url": "http://h/t", "offset": "{{i}}", "length": "5", "dimensions": {"i": [7, 8]}}
    ],
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        "a/0": ["http://h/0.nc", 3, 1_000],
        "a/1": ["http://h/1.nc"],
        "old": "gone",
    },
}
NEXT = '    ReferenceColumn(title="From"'
ADDED = '    ReferenceColumn(title="Name", width=50, text=lambda row: row.key.rsplit("/", 1)[-1].upper()),\n'


@pytest.fixture
def saved() -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps(DOCUMENT).encode())


def with_a_column_more(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module as it would be with one line more, in the table of columns."""
    source = Path(references.__file__).read_text("utf-8")
    assert source.count(NEXT) == 1
    module = ModuleType("references_with_a_column_more")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source.replace(NEXT, ADDED + NEXT), references.__file__, "exec"), module.__dict__)
    return module


def pages(module: ModuleType, saved: ReferenceDocument) -> dict[str, list[list[str]]]:
    """All rows of each kind of rows: of the whole view, of those that differ, of those that came first."""
    changed = saved.apply(RemoveReference("old")).apply(SetReference("a/1", ["http://h/2.nc", 4, 2]))
    changes = changed_rows(Difference(changed, saved))
    whole = module.ExpansionRows(changed, None, lambda: None)
    differing = module.ChangedOnlyRows(whole, changes, saved, lambda: None)
    first = module.FirstRows(saved.refs)
    for rows in (whole, differing, first):
        assert rows.columns is module.COLUMNS
    return {
        "whole": whole.page(0, whole.row_count()),
        "differing": differing.page(0, differing.row_count()),
        "first": first.page(0, first.row_count()),
    }


def test_each_kind_of_rows_tells_the_same_columns(saved: ReferenceDocument) -> None:
    assert [column.title for column in references.COLUMNS] == [
        *("Row", "Key", "Kind", "URL or text", "Offset", "Length", "From")
    ]
    found = pages(references, saved)
    assert found["whole"] == [
        ["0", ".zgroup", "inline", json.dumps('{"zarr_format": 2}'), "", "18", "refs"],
        ["1", "a/0", "range", "http://h/0.nc", "3", "1000", "refs"],
        ["2", "a/1", "range", "http://h/2.nc", "4", "2", "refs"],
        ["3", "t/7", "range", "http://h/t", "7", "5", "rule 0"],
        ["4", "t/8", "range", "http://h/t", "8", "5", "rule 0"],
    ]
    assert found["differing"] == [found["whole"][2], ["", "old", "gone", '"gone"', "", "", "saved"]]
    assert found["first"] == [
        ["0", ".zgroup", "inline", json.dumps('{"zarr_format": 2}'), "", "", "refs"],
        found["whole"][1],
        ["2", "a/1", "whole", "http://h/1.nc", "", "", "refs"],
        ["3", "old", "inline", '"gone"', "", "", "refs"],
    ]


def test_a_column_is_added_in_one_place(saved: ReferenceDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    module = with_a_column_more(monkeypatch)
    before, after = pages(references, saved), pages(module, saved)
    for kind, rows in before.items():
        assert after[kind] == [[*row[:-1], row[1].rsplit("/", 1)[-1].upper(), row[-1]] for row in rows]
    assert len(module.PENDING) == len(references.PENDING) + 1


def test_widths_are_known_before_the_rows_are(saved: ReferenceDocument) -> None:
    rows = references.ExpansionRows(saved, lambda row: row == 1, lambda: None)
    titles = [column.title for column in rows.columns]
    widest = {titles[number]: text for number, text in rows.widest().items()}
    assert list(widest) == ["Row", "Offset", "Length"]
    assert (widest["Row"], widest["Length"]) == ("5", "1000")
    assert int(widest["Offset"]) >= 3
    rows.page(0, 3)
    assert rows.styles(0, 3) == [RowStyle.NONE, RowStyle.CHANGED, RowStyle.NONE]


@pytest.mark.parametrize(
    ("runs", "entries", "rules", "generated"),
    [
        (((0, 2),), ((0, 2),), (), 0),
        (((3, 6),), ((3, 4),), (0,), 2),
        (((1, 2), (5, 9)), ((1, 2),), (0, 1), 3),
    ],
)
def test_selected_rows_are_split_by_where_they_come_from(
    runs: tuple[tuple[int, int], ...],
    entries: tuple[tuple[int, int], ...],
    rules: tuple[int, ...],
    generated: int,
) -> None:
    assert references.split_rows(runs, 4, [2, 2]) == references.SelectedRows(entries, rules, generated)
