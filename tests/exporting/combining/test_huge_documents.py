"""Documents whose metadata says that they have more chunks than anybody can list: they are counted first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining import combined, properties
from refbrowser.limits import LIMITS, adjust

CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "one value a chunk": ({"shape": [100_000_000], "chunks": [1]}, None),
    "more chunks than numbers count": ({"shape": [2**62, 4], "chunks": [1, 1]}, None),
    "rank 32": ({"shape": [8] * 32, "chunks": [1] * 32}, None),
    "a rule of many": ({"shape": [20_000_000], "chunks": [1]}, {"i": {"stop": 20_000_000}}),
    "a rule of too many": ({"shape": [10**12], "chunks": [1]}, {"i": {"stop": 10**12}}),
}


def write(path: Path, array: dict[str, Any], rule: Any, refs: dict[str, Any] | None = None) -> None:
    told = {
        "dtype": "<i4",
        "zarr_format": 2,
        "fill_value": -1,
        "compressor": None,
        "filters": None,
        "order": "C",
    }
    names = ["time", *(f"d{number}" for number in range(1, len(array["shape"])))]
    made: dict[str, Any] = {
        "version": 1,
        "refs": {
            ".zgroup": '{"zarr_format": 2}',
            "t/.zarray": json.dumps(told | array),
            "t/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": names}),
            **(refs or {}),
        },
    }
    if rule:
        made["gen"] = [
            {"key": "t/{{i}}", "url": "a.bin", "offset": "{{4 * i}}", "length": "4", "dimensions": rule}
        ]
    path.write_text(json.dumps(made))


@pytest.mark.parametrize("what", list(CASES))
def test_what_is_too_much_is_told_before_it_is_made(what: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.json", *CASES[what])
    words = r"too many to be combined \('.*[ab].json', path '/t'\)"
    with pytest.raises(RefbrowserError, match=words) as caught:
        refbrowser.combine(str(tmp_path / "?.json"), tmp_path / "all", concat="time")
    assert caught.value.kind is ErrorKind.BUDGET
    assert "--leave-out-var /t" in caught.value.advice
    assert not (tmp_path / "all").exists()


@pytest.mark.slow
def test_a_file_has_as_many_chunks_in_all_as_may_be_listed(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"shape": [8], "chunks": [1]}, None)
    before = LIMITS.write_out_question
    for most, fails in ((7, True), (8, False)):
        adjust("write_out_question", most)
        try:
            if fails:
                with pytest.raises(RefbrowserError, match="the file has 8 chunks"):
                    refbrowser.combine(str(tmp_path / "?.json"), tmp_path / "all", concat="time")
            else:
                refbrowser.combine(str(tmp_path / "?.json"), tmp_path / "all", concat="time")
        finally:
            adjust("write_out_question", before)


@pytest.mark.slow
def test_references_are_the_same_taken_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refs = {f"t/{row}.{column}": ["x.bin", 8 * row + column, 4] for row in range(4) for column in (0, 2)}
    refs["t/3.1"] = "base64:AAAAAA=="
    for name in ("a", "b"):
        write(tmp_path / f"{name}.json", {"shape": [4, 3], "chunks": [1, 1]}, None, refs)
    found = []
    for size in (1 << 18, 5, 1):
        monkeypatch.setattr(properties, "_TAKEN", size)
        monkeypatch.setattr(combined, "_ROWS", size)
        out = tmp_path / f"out{size}"
        refbrowser.combine(str(tmp_path / "?.json"), out, format="refs-v0", concat="time", force=True)
        found.append(json.loads(out.read_text()))
        assert found[-1] == found[0]
    assert sum(key.startswith("t/") for key in found[0]) == 2 * 9 + 2
