"""Hostile files of Awkward 0: refused by kind, no code run, and what is sound beside them readable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import awkward
import pytest
from awkward0_constructs import CONSTRUCTS
from awkward0_encoder import Encoder, Expression, pickled, zipped
from awkward0_hostile import Hostile, Touch
from awkward0_hostile_values import HOSTILE
from awkward0_values import plain_value, read_values, same
from deep import some
from looped import looped

import refbrowser
from refbrowser.errors import RefbrowserError

WATCH = Path(__file__).with_name("awkward_watch.py")
SOUND = [[1.5], [], [2.5, 3.5]]


def archive(case: Hostile, canary: str) -> bytes:
    """Return a file with the array ``evil`` and one that is sound."""
    evil, sound = Encoder("evil"), Encoder("sound")
    members = evil.members(case.make(evil, canary))
    return zipped({**members, **sound.members(sound.jagged([1, 0, 2], [1.5, 2.5, 3.5]))})


def refusals(dataset: refbrowser.Dataset, path: str) -> set[str]:
    """Return the kinds of all errors at and below an array; ``fine`` where there are none."""
    found = {
        str(each.kind) for each in dataset.hierarchy.findings if (each.place.path or "").startswith(path)
    }
    array = dataset.arrays.get(path)
    if array is not None:
        try:
            if array.node.nested is None:
                array[...]
            else:
                rows = array.nested_rows(0, min(array.shape[0], 10) if array.shape else 1)
                found |= {str(fault.error.kind) for fault in rows.faults}
        except RefbrowserError as error:
            found.add(str(error.kind))
    return found or {"fine"}


@pytest.mark.slow
@looped("case", HOSTILE)
def test_refused_by_kind_beside_what_is_sound(case: Hostile, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    path = tmp_path / "hostile.awkd"
    path.write_bytes(archive(case, str(canary)))
    with refbrowser.open(path) as dataset:
        found = refusals(dataset, "/evil")
        assert found <= case.kinds, found
        assert read_values(dataset["/sound"]) == SOUND
    assert not canary.exists()


@pytest.mark.slow
def test_no_code_is_run(tmp_path: Path) -> None:
    canary, folder = tmp_path / "canary", tmp_path / "files"
    folder.mkdir()
    honest: dict[str, bytes] = {}
    for number, construct in enumerate(CONSTRUCTS):
        encoder = construct.encoder(f"c{number}-")
        honest |= encoder.members(construct.make(encoder))
    (folder / "honest.awkd").write_bytes(zipped(honest))
    tried = some(HOSTILE, 6)
    batches = [tried[start : start + 20] for start in range(0, len(tried), 20)]
    for number, cases in enumerate(batches):
        members: dict[str, bytes] = {}
        for index, case in enumerate(cases):
            encoder = Encoder(f"evil{index:02}")
            members |= encoder.members(case.make(encoder, str(canary)))
        (folder / f"{number:03}.awkd").write_bytes(zipped(members))
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "evil_module.py").write_text(f"open({str(canary)!r}, 'w')")
    paths = os.pathsep.join([*sys.path, str(modules)])
    command = [sys.executable, str(WATCH), str(folder)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert not done.returncode, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == []
    assert not canary.exists()


PARTS: dict[str, Callable[[Encoder, Expression], Expression]] = {
    "a column": lambda e, evil: e.make(
        "Table.frompairs", {"pairs": [["x", e.basic([1, 2])], ["bad", evil]]}, 0
    ),
    "a column in lists": lambda e, evil: e.jagged(
        [1, 1], e.make("Table.frompairs", {"pairs": [["x", e.basic([1, 2])], ["bad", evil]]}, 0)
    ),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", ["pickle", "function", "reference", "blob"])
def test_sound_columns_beside_broken_ones(part: str, kind: str, tmp_path: Path) -> None:
    encoder = Encoder("one")
    evil = {
        "pickle": lambda: pickled(Touch(str(tmp_path / "canary"))),
        "function": lambda: encoder.call(["os", "system"], "true"),
        "reference": lambda: {"ref": 77},
        "blob": lambda: encoder.basic([1, 2], data=b"short"),
    }[kind]()
    path = tmp_path / "parts.awkd"
    path.write_bytes(zipped(encoder.members(PARTS[part](encoder, evil))))
    expected = [{"x": 1}, {"x": 2}] if part == "a column" else [[{"x": 1}], [{"x": 2}]]
    with refbrowser.open(path) as dataset:
        array = dataset["/one"]
        rows = array.nested_rows(0, 2)
        assert [fault.path for fault in rows.faults] == ["bad"]
        values = read_values(dataset["/one/x"])
        assert same(values, [1, 2] if part == "a column" else [[1], [2]])
        assert [str(fault.error.kind) for fault in rows.faults] == [
            {"pickle": "E_UNSAFE", "function": "E_UNSAFE", "reference": "E_SCHEMA", "blob": "E_DECODE"}[kind]
        ]
        found = plain_value(awkward.to_list(rows.content))
    assert same(_without_bad(found), expected)


def _without_bad(value: object) -> object:
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if name != "bad"}
    return [_without_bad(each) for each in value] if isinstance(value, list) else value


def test_default_of_a_sparse_array_that_is_refused(tmp_path: Path) -> None:
    encoder = Encoder("one")
    evil = pickled(Touch(str(tmp_path / "canary")))
    root = encoder.table(
        good=[1, 2], bad=encoder.make("SparseArray", 2, encoder.basic([0]), encoder.basic([5]), evil)
    )
    path = tmp_path / "sparse.awkd"
    path.write_bytes(zipped(encoder.members(root)))
    with refbrowser.open(path) as dataset:
        assert read_values(dataset["/one/good"]) == [1, 2]
        assert refusals(dataset, "/one") == {"E_UNSAFE"}
    assert not (tmp_path / "canary").exists()
