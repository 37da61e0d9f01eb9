"""Whatever writes is killed at its calls that change files: the target is the old or the new one, always.

The next run ends as one that was never killed does, and leaves nothing of the killed one behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import refbrowser
from refbrowser.cli.program import main
from refbrowser.io.files import final_names

#: Kills of each verb, at most about; chunks of what is written, which most verbs write one by one.
MANY, CHUNKS = 240, 60


def write_source(path: Path, first: int, chunks: int = 2) -> None:
    array = {
        "zarr_format": 2, "shape": [2 * chunks], "chunks": [2], "dtype": "|u1", "compressor": None,
        "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    refs: dict[str, Any] = {
        ".zgroup": '{"zarr_format": 2}',
        "t/.zarray": json.dumps(array),
        "t/.zattrs": '{"_ARRAY_DIMENSIONS": ["x"]}',
        **{f"t/{number}": ["values", first + 2 * number, 2] for number in range(chunks)},
    }
    path.write_text(json.dumps({"version": 1, "refs": refs}))


def verbs(folder: Path) -> dict[str, dict[str, Any]]:
    """Make what each verb needs, with an old target, and return what is to be run."""
    source = folder / "source"
    source.mkdir()
    (source / "values").write_bytes(bytes(range(2 * CHUNKS + 4)))
    write_source(source / "old.json", 0, CHUNKS)
    write_source(source / "new.json", 4, CHUNKS)
    found: dict[str, dict[str, Any]] = {}

    def add(name: str, verb: list[str], target: str, *first: list[str], again: bool = True) -> None:
        made = folder / "made" / name
        shutil.copytree(source, made)
        for each in first:
            assert main([str(made / part) if "." in part[1:] else part for part in each]) == 0, name
        found[name] = {"made": str(made), "verb": verb, "target": target, "again": again}

    for to, target, *options in (
        ("zarr-v2", "out.zarr"),
        ("zarr-v3", "out.zarr"),
        ("nczarr", "out.zarr"),
        ("zarr-v3-draft", "out.zarr"),
        ("zarr-v3", "out.sharded.zarr", "--shards", "8"),
        ("zarr-v2", "out.zip", "--zip"),
        ("zarr-v3", "out.zip", "--zip"),
        ("ncstream", "out.ncs"),
        ("awkward0", "out.awkd"),
        ("refs-v1", "out.json"),
        ("refs-parquet", "out.parq"),
        ("parquet", "out.table.parquet"),
        ("netcdf4", "out.nc"),
    ):
        export = [*options, "--to", to, "--force"]
        name = "-".join((to, *options)).replace("--", "")
        add(name, ["export", "new.json", target, *export], target, ["export", "old.json", target, *export])
    # A file in the place of a folder, and a folder in that of a file.
    for name, one, other in (("zip-over-folder", ["--zip"], []), ("folder-over-zip", [], ["--zip"])):
        add(
            name,
            ["export", "new.json", "out.zarr", *one, "--to", "zarr-v2", "--force"],
            "out.zarr",
            ["export", "old.json", "out.zarr", *other, "--to", "zarr-v2"],
        )
    for to in ("zarr-v2", "zarr-v3"):
        add(f"resumed-{to}", ["export", "new.json", "out.zarr", "--to", to, "--resume"], "out.zarr")
    add("fold", ["fold", "new.json", "-o", "old.json", "--force"], "old.json")
    add("lock", ["lock", "new.json"], "new.json.lock.json")
    made = ["make", "-o", "out.json", "--force"]
    add(
        "make",
        [*made[:1], "out.zarr", *made[1:]],
        "out.json",
        ["export", "new.json", "out.zarr", "--to", "zarr-v3"],
    )
    add(
        "merge",
        ["merge", "old.json", "old.json", "new.json", "-o", "old.json", "--force"],
        "old.json",
        again=False,
    )
    return found


def killed(folder: Path, told: dict[str, dict[str, Any]], share: int) -> tuple[int, list[dict[str, Any]]]:
    """Kill verbs; return how many kills there were, and what they left that they must not leave."""
    (folder / "work").mkdir()
    given = {"verbs": told, "work": str(folder / "work"), "state": str(folder / "state"), "share": share}
    ended = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("killing.py"))],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    *faults, last = map(json.loads, ended.stdout.splitlines())
    return last["kills"], faults


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="copies of a process")
def test_a_killed_process_leaves_the_old_or_the_new_target(tmp_path: Path) -> None:
    kills, faults = killed(tmp_path, verbs(tmp_path), MANY)
    assert faults == []
    assert kills >= 2000


class Killed(BaseException):
    """Stands for the end of the process: nothing that gives or takes names is done after it."""


@contextmanager
def ended_at(last: int) -> Iterator[None]:
    """End a process in thought at its `last` call that gives or takes a name."""
    count = 0

    def counting(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count >= last:
                raise Killed
            return call(*given, **named)

        return counted

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Killed):
        for name in ("rename", "replace", "unlink", "rmdir", "link"):
            patch.setattr(os, name, counting(getattr(os, name)))
        exchange = final_names._exchange()
        patch.setattr(final_names, "_exchange", lambda: None if exchange is None else counting(exchange))
        # Those that have ended have other numbers.
        patch.setattr(os, "getpid", lambda: 4194305)
        yield


SUFFIXES = {"refs-v1": ".json", "refs-parquet": ".parq", "awkward0": ".awkd", "parquet": ".parquet"}
TARGETS = ["zarr-v2", "zarr-v2 zip", "refs-v1", "refs-parquet", "parquet", "ncstream", "awkward0"]


@pytest.mark.slow
@pytest.mark.parametrize("form", TARGETS)
def test_a_writer_that_ends_at_any_name_leaves_the_old_or_the_new_target(tmp_path: Path, form: str) -> None:
    (tmp_path / "values").write_bytes(bytes(range(8)))
    sources = [tmp_path / "old.json", tmp_path / "new.json"]
    for number, path in enumerate(sources):
        write_source(path, 4 * number)
    beside = {"values", "old.json", "new.json"}
    format, _, is_zip = form.partition(" ")
    suffix = ".zip" if is_zip else SUFFIXES.get(format, "")

    def write(number: int) -> None:
        options = ["--zip"] if is_zip else []
        target = str(tmp_path / f"out{suffix}")
        assert main(["export", str(sources[number]), target, "--to", format, "--force", *options]) == 0

    def state() -> Any:
        if format == "parquet":
            return (tmp_path / "out.parquet").read_bytes()
        with refbrowser.open(tmp_path / f"out{suffix}") as dataset:
            return dataset["/t"][...].tolist()

    states = []
    for number in range(2):
        write(number)
        states.append(state())
    write(0)
    for last in (1, 2, 3, 5, 8):
        with ended_at(last):
            write(1)
        assert state() in states, last
        write(0)
        assert state() == states[0]
        assert {*os.listdir(tmp_path)} == {*beside, f"out{suffix}"}, last
