"""The schemas of what verbs print with ``--json``: one for each, closed, and true of real outputs.

What other tests have printed is held against them, too: see `json_outputs`.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged_sets import DAMAGES, sound
from json_outputs import WATCHED, Watched, faults
from jsonschema import Draft202012Validator

import refbrowser
import refbrowser.cli.console as console
from refbrowser.cli import main
from refbrowser.cli.program import parser_of
from refbrowser.tools.registry import BUILT_IN
from refbrowser.tools.schema.schemas import ERROR, SESSION, schema_names, schema_text

SCHEMAS: dict[str, Any] = {name: json.loads(schema_text(name)) for name in schema_names()}
NAMES = sorted(SCHEMAS)


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The sample, and what is made of it, where commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REFBROWSER_CONFIG", str(tmp_path / "config.toml"))
    return refbrowser.sample()


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a schema."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts(inner)


def test_every_verb_with_json_has_a_schema() -> None:
    printing = {
        tool.name
        for tool in BUILT_IN
        if "--json" in {flag for action in parser_of(tool)._actions for flag in action.option_strings}
    }
    assert printing | {ERROR, SESSION} == set(SCHEMAS)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_whole_and_closed(name: str) -> None:
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:refbrowser:{name}"
    assert f"refbrowser {name} --json" in schema["title"] or name in (ERROR, SESSION)
    for part in parts(schema):
        if isinstance(part.get("properties"), dict):
            # A member that nobody declared is a fault; others are maps, of names that files give.
            assert part.get("additionalProperties") is not None, part
            assert set(part.get("required", ())) <= set(part["properties"])
    used = {part["$ref"] for part in parts(schema) if isinstance(part.get("$ref"), str)}
    assert {f"#/$defs/{each}" for each in schema.get("$defs", {})} <= used


def test_what_verbs_share_is_declared_alike() -> None:
    known: dict[str, Any] = {}
    for name in ("finding", "loss", "mismatch", "left_out"):
        for schema in SCHEMAS.values():
            if name in schema.get("$defs", {}):
                assert known.setdefault(name, schema["$defs"][name]) == schema["$defs"][name]
    assert set(known) == {"finding", "loss", "mismatch", "left_out"}


#: Commands whose outputs are held against the schemas, on the sample; some make what others need.
COMMANDS = {
    "info": [["info", "sea_surface.json"]],
    "cdl": [["cdl", "sea_surface.json"]],
    "plan": [
        ["plan", "sea_surface.json", "/ocean/sst", "--select", "0"],
        ["plan", "sea_surface.json", "/ocean/sst", "--cost"],
    ],
    "explain": [
        ["explain", "sea_surface.json", "ocean/sst/0.0.0"],
        ["explain", "sea_surface.json", "ocean/sst/.zarray"],
        ["explain", "sea_surface.json", "no/key"],
        ["explain", "sea_surface.json", "ice/fraction/6.0.0"],
        ["explain", "sea_surface.json", "--array", "/ocean/sst", "--index", "0,10,20"],
        ["explain", "sea_surface.json", "--array", "/ocean/lat", "--index", "3"],
    ],
    "diff": [
        ["diff", "sea_surface.json", "sea_surface.json", "--values", "sample"],
        ["diff", "sea_surface.json", "other.json", "--values", "all"],
    ],
    "read": [
        ["read", "sea_surface.json", "/ocean/lat"],
        ["read", "sea_surface.json", "/ocean/sst", "--select", "0,:2,:2"],
    ],
    "statistics": [
        ["statistics", "sea_surface.json", "/ocean/sst", "--region", "lat 30..60", "--along", "time"],
        ["statistics", "sea_surface.json", "/ocean/sst", "--region", "> 1000"],
        ["statistics", "sea_surface.json", "/ice/fraction"],
    ],
    "figure": [["figure", "sea_surface.json", "/ocean/sst", "-o", "sst.png", "--size", "400x300"]],
    "cat": [["cat", "sea_surface.json", "ocean/sst/.zarray"]],
    "expand": [
        ["expand", "sea_surface.json"],
        ["expand", "sea_surface.json", "--count", "0"],
        ["expand", "sea_surface.json", "--key", "ocean/sst/0.0.0", "--key", "none"],
    ],
    "check": [["check", "sea_surface.json", "text.json"]],
    "audit": [
        ["audit", "sea_surface.json"],
        ["audit", "sea_surface.json", "--level", "sample"],
        ["audit", "broken.json", "--level", "stat", "--fix"],
    ],
    "expect": [
        ["expect", "sea_surface.json", "--set", "every month from 2024 to 2025", "-o", "months.expect.json"],
        ["expect", "sea_surface.json", "--properties"],
        ["expect", "sea_surface.json", "--force"],
    ],
    "readers": [["readers", "sea_surface.json"], ["readers", "sea_surface.json", "--for", "gdal"]],
    "commit": [
        ["commit", "sea", "--set-attr", "ocean/sst:units=K", "--dry-run"],
        ["commit", "sea", "--set-attr", "ocean/sst:units=K", "-m", "units"],
    ],
    "history": [["history", "sea"], ["history", "sea", "--operations", "--unused"]],
    "manifests": [["manifests", "sea"]],
    "lock": [["lock", "sea_surface.json"]],
    "make": [
        ["make", "one.nc", "two.nc", "-o", "made"],
        ["make", "one.nc", "two.nc", "--concat", "t", "-o", "all.json"],
        ["make", "one.nc", "odd.nc", "--concat", "t", "-o", "odd.json"],
    ],
    "append": [
        ["append", "base.json", "two.nc"],
        ["append", "sea.ncs", "sea.ncs", "--overwrite", "--array", "/ocean/lat"],
    ],
    "fold": [["fold", "rows.json", "-o", "folded.json"]],
    "move": [
        ["move", "sea_surface.json"],
        ["move", "sea_surface.json", "data/", "s3://bucket/data/", "-o", "moved.json"],
        ["move", "sea_surface.json", "data/", "elsewhere/", "--test", "-o", "tried.json"],
    ],
    "merge": [
        ["merge", "sea_surface.json", "sea_surface.json", "other.json", "-o", "merged.json"],
        ["merge", "sea_surface.json", "third.json", "other.json", "-o", "conflict.json"],
        ["merge", "sea_surface.json", "third.json", "other.json", "--favor", "ours", "-o", "favor.json"],
    ],
    "export": [
        ["export", "sea_surface.json", "out.zarr", "--to", "zarr-v3"],
        ["export", "sea_surface.json", "out.ncs", "--to", "ncstream", "--estimate"],
        ["export", "faulty.json", "skipped.zarr", "--to", "zarr-v2", "--skip-bad"],
    ],
    "compact": [["compact", "sea.ncs", "-o", "small.ncs"]],
    "repair": [["repair", "cut.ncs", "-o", "sound.ncs"]],
    "sample": [["sample", "again"]],
    "samples": [["samples"]],
    "config": [
        ["config", "show"],
        ["config", "get", "allow"],
        ["config", "get", "stale"],
        ["config", "get", "dask"],
        ["config", "path"],
    ],
    "completion": [["completion", "bash"]],
    "man": [["man"], ["man", "read"], ["man", "-o", "man1"]],
    "limits": [["limits"]],
    "schema": [["schema"], ["schema", "info"]],
}


def prepare(verb: str) -> None:
    """Make what the commands of a verb need."""
    refs = json.loads(json.dumps(refbrowser.expand("sea_surface.json")))
    whole = Path("sea_surface.json").read_text("utf-8")
    if verb in ("diff", "merge"):
        for name, units in (("other", "K"), ("third", "F")):
            Path(f"{name}.json").write_text(whole.replace("degree_Celsius", units))
    if verb in ("commit", "history", "manifests"):
        pytest.importorskip("icechunk")
        assert main(["export", "sea_surface.json", "sea", "--to", "icechunk"]) == 0
    if verb == "check":
        Path("text.json").write_text("no JSON")
    if verb == "audit":
        Path("broken.json").write_text(whole.replace('"data/', '"gone/'))
    if verb == "export":
        sides = {"shape": [2], "chunks": [1], "dtype": "|u1", "compressor": None, "filters": None}
        chunks = json.dumps({"zarr_format": 2, **sides, "fill_value": 0, "order": "C"})
        faulty = {".zgroup": '{"zarr_format": 2}', "a/.zarray": chunks, "a/0": ["x", -1, 2], "a/1": "b"}
        Path("faulty.json").write_text(json.dumps(faulty))
    if verb == "fold":
        Path("rows.json").write_text(json.dumps(refs))
    if verb == "config":
        assert main(["config", "set", "allow", "https://example.org"]) == 0
        assert main(["config", "set", "stale", "allow"]) == 0
    if verb in ("make", "append"):
        _write_files()
    if verb == "append":
        assert main(["make", "one.nc", "--concat", "t", "-o", "base.json"]) == 0
    if verb in ("append", "compact", "repair"):
        more = ["--array", "/ocean/lat"]
        assert main(["export", "sea_surface.json", "sea.ncs", "--to", "ncstream", *more]) == 0
        data = Path("sea.ncs").read_bytes()
        Path("cut.ncs").write_bytes(data[:-20])


def _write_files() -> None:
    import h5py

    for name, first, units in (("one", 0, "m"), ("two", 3, "m"), ("odd", 6, "km")):
        with h5py.File(f"{name}.nc", "w") as file:
            time = file.create_dataset("t", data=np.arange(first, first + 3.0))
            time.make_scale("t")
            values = file.create_dataset("v", data=np.arange(3.0), chunks=(3,))
            values.attrs["units"] = units
            values.dims[0].attach_scale(time)


@pytest.mark.slow
@pytest.mark.parametrize("verb", sorted(COMMANDS))
def test_outputs_are_as_published(
    verb: str, sample: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(verb)
    capsys.readouterr()
    for command in COMMANDS[verb]:
        main([*command, "--json"])
        printed = capsys.readouterr()
        lines = printed.out.splitlines()
        assert lines, (command, printed.err)
        for line in lines:
            assert faults(verb, json.loads(line)) == [], command


def test_all_verbs_are_tried() -> None:
    # One prints before it waits for the end: it has a test of its own.
    assert set(COMMANDS) | {ERROR, SESSION, "serve"} == set(SCHEMAS)


@pytest.mark.slow
def test_what_is_served_is_told_as_published(sample: str) -> None:
    command = [sys.executable, "-m", "refbrowser", "serve", sample, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
        finally:
            process.terminate()
    assert faults("serve", told) == []
    assert told["losses"]


def test_the_report_of_an_audit_is_what_it_prints(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", sample, "--report", "report.json"]) == 0
    assert faults("audit", json.loads(Path("report.json").read_text("utf-8"))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_damaged_sets_are_told_as_published(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = sound(tmp_path)
    DAMAGES[name].make(made)
    path = str(made.write())
    key = next(key for key in made.refs if not key.endswith((".zarray", ".zattrs", ".zgroup")))
    for verb, *more in (
        ["info"], ["check"], ["audit"], ["audit", "--level", "sample"], ["explain", key], ["diff", path],
        ["move"], ["cdl"], ["lock"],
    ):  # fmt: skip
        main([verb, path, *more, "--json"])
        for line in capsys.readouterr().out.splitlines():
            assert faults(verb, json.loads(line)) == [], verb


def test_errors_are_as_published(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("text.json").write_text('{"refs": }')
    for command in (
        ["info", "none.json"], ["nothing"], ["info", "text.json"], ["read", sample, "/none"],
        ["read", sample, "/ocean/sst", "--select", "99"], ["cat", sample, "none"], ["schema", "none"],
    ):  # fmt: skip
        assert main([*command, "--json"]) != 0
        last = json.loads(capsys.readouterr().err.splitlines()[-1])
        assert faults(ERROR, last) == [], command
        assert last["error"]["exit_code"] in (2, 6)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"read", "config", "schema", "limits", SESSION}))
def test_a_member_that_nobody_declared_is_a_fault(name: str) -> None:
    # Whatever else is wrong with an empty object, what is not known is told as well.
    told = " ".join(fault.message for fault in Draft202012Validator(_first(name)).iter_errors({"odd": 1}))
    assert "'odd' was unexpected" in told


def _first(name: str) -> dict[str, Any]:
    schema = SCHEMAS[name]
    body = next((each for each in schema.get("oneOf", ()) if each.get("type") == "object"), schema)
    return {**body, "$defs": schema.get("$defs", {})}


def test_every_output_of_the_tests_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test has printed, and is not as published, fails it."""
    watched = Watched()
    watched._verb = "sample"
    monkeypatch.setattr(console.MANNER, "is_json", True)
    write = watched._watching(lambda value: None)
    write({"document": "x"})
    assert watched.taken() == []
    write({"document": 1, "odd": 2})
    assert len(watched.taken()) == 2
    assert watched.taken() == []
    # So it is with the one that looks at all of them.
    assert console.write_json.__qualname__.startswith(Watched.__qualname__)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr(WATCHED, "_verb", "sample")
    console.write_json({"odd": 1})
    assert WATCHED.taken() != []


def test_schemas_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out.split() == NAMES
    assert main(["schema", "audit"]) == 0
    assert capsys.readouterr().out == schema_text("audit")
    assert main(["schema", "none"]) == 2
    assert "there is no schema 'none'; known: append, audit" in capsys.readouterr().err
