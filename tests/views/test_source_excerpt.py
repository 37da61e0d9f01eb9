"""The lines of a document around a fault."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from refbrowser.errors import Place, RefbrowserError
from refbrowser.formats.references import open_references
from refbrowser.views.source_excerpt import source_excerpt


def excerpt_of(path: Path) -> list[str]:
    """Return the lines around what keeps a document from being opened."""
    with pytest.raises(RefbrowserError) as caught:
        open_references(path)
    return source_excerpt(str(path), caught.value.place).split("\n")


def test_the_place_is_marked_among_the_lines_around_it(tmp_path: Path) -> None:
    path = tmp_path / "comma.json"
    path.write_text('{\n  "version": 1,\n  "refs": {\n    "a": "b",\n  }\n}\n')
    assert excerpt_of(path) == [
        '3    "refs": {',
        '4      "a": "b",',
        "5    }",
        "     ▲",
        "6  }",
    ]


def test_of_a_long_line_what_is_around_the_place_is_shown(tmp_path: Path) -> None:
    refs = {f"ä/{number}": ["x.nc", number, 1] for number in range(1000)}
    text = json.dumps({"version": 1, "refs": refs}, ensure_ascii=False)
    path = tmp_path / "line.json"
    path.write_text(text.replace('"ä/500": [', '"ä/500": [,'), encoding="utf-8")
    line, mark = excerpt_of(path)
    assert line.startswith("1 …")
    assert line.endswith("…")
    assert len(line) < 90
    assert line[mark.index("▲")] == ","
    assert line[: mark.index("▲")].endswith('"ä/500": [')


def test_nothing_is_shown_where_there_is_no_such_place(tmp_path: Path) -> None:
    path = tmp_path / "short.json"
    path.write_text("{}")
    assert source_excerpt(str(path), Place(line=9, column=1)) == ""
    assert source_excerpt(str(path), Place()) == ""
    assert source_excerpt(str(path), Place(line=1, column=1, key="a/.zarray")) == ""
    assert source_excerpt(str(tmp_path / "gone.json"), Place(line=1, column=1)) == ""
    path.write_bytes(gzip.compress(b"{"))
    assert source_excerpt(str(path), Place(line=1, column=1)) == ""
    assert source_excerpt("https://example.org/a.json", Place(line=1, column=1)) == ""
