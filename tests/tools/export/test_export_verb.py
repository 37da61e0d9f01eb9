"""``export`` on the command line: targets, refusals, resuming, reports."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numcodecs
import numpy as np
import pytest
import zarr
from zarr_versions import put

import refbrowser
from refbrowser.cli import main
from refbrowser.engine import compute
from refbrowser.limits import LIMITS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def era(shared_data: Path) -> str:
    return str(shared_data / "real" / "eraint_uvz.refs.json")


def test_whole_to_zarr_with_a_report(era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "era.zarr"
    assert main(["export", era, str(target), "--to", "zarr-v2", "--json"]) == 0
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert captured.err == ""
    assert report["chunks"] == report["copied"] == report["verified"] == 22
    assert report["losses"] == report["skipped"] == []
    with refbrowser.open(era) as dataset:
        np.testing.assert_array_equal(zarr.open_group(target, mode="r")["z"][...], dataset["z"][...])


def test_chosen_arrays_and_parts(era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "out")
    command = ["export", era, target, "--to", "zarr-v3", "--array", "/z", "--select", "-1,:,0,0"]
    assert main([*command, "--array", "level"]) == 0
    assert "2 arrays" in capsys.readouterr().out
    store = zarr.open_group(target, mode="r")
    assert sorted(store) == ["level", "z"]
    with refbrowser.open(era) as dataset:
        np.testing.assert_array_equal(store["z"][...], dataset["z"][-1, :, 0, 0])


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--to", "zarr-v9"], 2, "E_USAGE"),
        (["--to", "zarr-v3", "--array", "/nothing"], 2, "E_USAGE"),
        (["--to", "zarr-v3", "--array", "z", "--select", "0:99:x"], 2, "E_USAGE"),
        (["--to", "zarr-v3", "--array", "z", "--array", "/z"], 2, "named twice"),
    ],
)
def test_refusals(era: str, tmp_path: Path, arguments: list[str], code: int, text: str, capsys) -> None:
    assert main(["export", era, str(tmp_path / "out"), *arguments]) == code
    captured = capsys.readouterr()
    assert text in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_no_overwriting_without_force(era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "out.json")
    assert main(["export", era, target, "--to", "refs-v0"]) == 0
    before = Path(target).read_bytes()
    assert main(["export", era, target, "--to", "refs-v1"]) == 7
    assert "--force" in capsys.readouterr().err
    assert Path(target).read_bytes() == before
    assert main(["export", era, target, "--to", "refs-v1", "--force"]) == 0
    assert json.loads(Path(target).read_text())["version"] == 1
    assert main(["export", era, str(tmp_path / "absent" / "x"), "--to", "zarr-v3"]) == 4


def test_missing_permission_is_3(era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "moved.json"
    text = json.loads(Path(era).read_text())
    text["templates"]["u"] = str(Path(era).with_name("eraint_uvz.nc"))
    document.write_text(json.dumps(text))
    command = ["export", str(document), str(tmp_path / "out"), "--to", "zarr-v3"]
    assert main(command) == 3
    assert "E_BLOCKED" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*command, "--allow", str(Path(era).parent)]) == 0


def test_skip_bad_warns_for_each(era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = Path(tmp_path / "bad.json")
    text = json.loads(Path(era).read_text())
    text["templates"]["u"] = str(Path(era).with_name("eraint_uvz.nc"))
    text["refs"]["level/0"] = ["{{u}}", 10**8, 12]
    text["refs"]["latitude/0"] = ["{{u}}", -1, 12]
    document.write_text(json.dumps(text))
    command = ["export", str(document), str(tmp_path / "out"), "--allow", str(Path(era).parent), "--to"]
    assert main([*command, "zarr-v3"]) in (2, 4)
    capsys.readouterr()
    assert main([*command, "zarr-v3", "--skip-bad", "--json"]) == 0
    captured = capsys.readouterr()
    warnings = captured.err.splitlines()
    assert len(warnings) == 2
    assert all(line.startswith("refbrowser: warning[E_R") for line in warnings)
    assert {entry["key"] for entry in json.loads(captured.out)["skipped"]} == {"level/0", "latitude/0"}


def test_writing_out_very_many_rows_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = {"key": "a/{{i}}", "url": "u", "dimensions": {"i": {"stop": LIMITS.write_out_question + 1}}}
    document = tmp_path / "d.json"
    document.write_text(json.dumps({"version": 1, "gen": [rule], "refs": {".zgroup": '{"zarr_format":2}'}}))
    assert main(["export", str(document), str(tmp_path / "out"), "--to", "refs-v0"]) == 2
    shown = capsys.readouterr().err
    assert "E_BUDGET" in shown
    assert "write_out_question" in shown
    assert main(["export", str(document), str(tmp_path / "out"), "--to", "refs-v1"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)],
)
def test_an_interrupted_export_resumes(tmp_path: Path, number: int, code: int) -> None:
    """A signal ends it in order, and it says how to go on; --resume reads only the rest."""
    from servers_for_cli import slow_file

    with slow_file(tmp_path) as (document, origin):
        target = tmp_path / "out"
        command = [sys.executable, "-m", "refbrowser", "export", document, target]
        command += ["--to", "zarr-v3", "--allow", origin]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        journal = tmp_path / ".out.refbrowser-partial" / ".refbrowser-export.jsonl"
        wait_until(lambda: journal.exists() and journal.read_text().count("sha256") >= 20)
        running.send_signal(number)
        _, err = running.communicate(timeout=30)
        assert running.returncode == code
        assert "--resume" in err
        assert not target.exists()
        done = subprocess.run(
            [*command, "--resume", "--json"], stdout=subprocess.PIPE, text=True, check=True, timeout=60
        )
    report = json.loads(done.stdout)
    assert report["resumed"] >= 20
    assert report["resumed"] + report["copied"] == report["chunks"] == report["verified"]
    assert report["read_bytes"] < report["copied"] * 100_000 * 1.1
    assert zarr.open_group(target, mode="r")["a"][-1, -1] == 39 % 256


def wait_until(happens) -> None:
    end = time.monotonic() + 30
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.slow
def test_chunks_codec_shards_and_a_zip_file(
    era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "era.zip"
    command = ["export", era, str(target), "--to", "zarr-v3", "--array", "z", "--array", "level"]
    options = ["--chunks", "1,1,50,50", "--codec", "zstd:3", "--shards", "auto:1MiB", "--json"]
    assert main([*command, *options, "--array-chunks", "level=2"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["copied"] == 0
    assert report["verified"] == report["chunks"]
    store = zarr.open_group(zarr.storage.ZipStore(target, mode="r"), mode="r")
    assert store["z"].chunks == (1, 1, 50, 50)
    assert store["z"].shards is not None
    assert store["level"].chunks == (2,)
    with refbrowser.open(era) as dataset:
        np.testing.assert_array_equal(store["z"][...], dataset["z"][...])


def test_what_concerns_many_arrays_is_said_once_with_its_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = zarr.create_group(tmp_path / "a.zarr", zarr_format=2)
    for name in "abcde":
        filters = [numcodecs.Shuffle(2)] if name == "a" else None
        made = store.create_array(
            name, shape=(2,), chunks=(2,), dtype="i2", fill_value=None, filters=filters, compressors=None
        )
        made[...] = 1
    assert main(["export", str(tmp_path / "a.zarr"), str(tmp_path / "out.zarr"), "--to", "zarr-v3"]) == 0
    captured = capsys.readouterr()
    notes = [line for line in (captured.err + captured.out).splitlines() if "note: " in line]
    assert notes == [
        "refbrowser: note: /a: codec shuffle is kept as an extension of Zarr v3 that few programs know",
        "refbrowser: note: it has no fill value and Zarr v3 needs one: 0 is written (5 times: /a, /b, /c, …)",
    ]
    assert "not kept" not in captured.err + captured.out


def test_the_estimate_writes_nothing(era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out"
    command = ["export", era, str(target), "--to", "zarr-v2", "--shards", "10,10,10,10", "--estimate"]
    assert main(command) == 0
    assert "note: Zarr v2 has no shards: chunks are stored one by one (7 times: " in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["chunks"] == 22
    assert not target.exists()


def test_what_is_not_kept_is_told_once_before_it_begins(
    era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", era, str(tmp_path / "out"), "--to", "zarr-v2", "--array", "z"]
    assert main([*command, "--shards", "10,10,10,10"]) == 0
    captured = capsys.readouterr()
    assert "no shards" in captured.err
    assert "no shards" not in captured.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--to", "refs-v1", "--chunks", "1,1"],
        ["--to", "refs-v0", "--zip"],
        ["--to", "zarr-v3", "--zip-folder", "x"],
        ["--to", "zarr-v3", "--codec", "zstd:99"],
        ["--to", "zarr-v3", "--chunks", "ten"],
        ["--to", "zarr-v3", "--array-chunks", "z"],
        ["--to", "zarr-v3", "--array-chunks", "z=1,2"],
        ["--to", "zarr-v3", "--array-chunks", "nothing=1,2"],
        ["--to", "zarr-v3", "--chunks", "2,2,2,2", "--shards", "3,3,3,3"],
    ],
)
def test_options_that_mean_nothing(era: str, tmp_path: Path, arguments: list[str], capsys) -> None:
    assert main(["export", era, str(tmp_path / "out"), *arguments]) == 2
    assert "E_USAGE" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_compounds_are_split_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from nczarr_documents import nczarr_document

    source = tmp_path / "buoys.json"
    source.write_text(json.dumps(nczarr_document()))
    command = ["export", str(source), str(tmp_path / "out"), "--to", "nczarr"]
    assert main(command) == 0
    assert "/station: left out: NCZarr has no type" in capsys.readouterr().err
    assert main([*command, "--split-compounds", "--force"]) == 0
    assert "the compound is split into 4 variables" in "".join(capsys.readouterr())
    assert (tmp_path / "out" / "station_place_lon" / ".zarray").exists()


@pytest.mark.slow
def test_who_does_the_work(
    era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    monkeypatch.setattr(compute, "CONNECTING", 0.3)
    for arguments, code, text in (
        (["--dask", "nowhere"], 2, "E_USAGE"),
        (["--dask", "local:0"], 2, "E_USAGE"),
        (["--dask", "local:2", "--dask-tls-ca", "ca.pem"], 2, "files for TLS"),
        (["--dask", "tcp://127.0.0.1:1"], 4, "E_SOURCE]: no scheduler answered at 'tcp://127.0.0.1:1'"),
        (
            ["--dask", "tls://127.0.0.1:1", *(f"--dask-tls-{name}=no" for name in ("ca", "cert", "key"))],
            4,
            "E_IO",
        ),
    ):
        assert main(["export", era, str(target), "--to", "zarr-v2", *arguments]) == code
        captured = capsys.readouterr()
        assert text in captured.err
        assert captured.err.count("error[") == 1
        assert list(tmp_path.iterdir()) == []
    # One file is made by one process, wherever that is; nobody is asked.
    command = ["export", era, str(target), "--to", "ncstream", "--dask", "tcp://127.0.0.1:1"]
    assert main([*command, "--estimate"]) == 0
    assert "made in this process: one file" in capsys.readouterr().out
    assert main(command) == 0
    assert "made in this process: one file" in capsys.readouterr().err


@pytest.mark.long
def test_processes_of_this_machine_make_the_same_files(era: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    said = {}
    for name, more in (("here", []), ("away", ["--dask", "local:2"])):
        command = [sys.executable, "-m", "refbrowser", "export", era, str(tmp_path / name), "--to", "zarr-v3"]
        run = subprocess.run([*command, "--json", *more], capture_output=True, text=True, timeout=100)
        assert (run.returncode, run.stderr) == (0, "")
        said[name] = {**json.loads(run.stdout), "target": "", "requests": 0}
    assert said["here"] == said["away"]
    files = {
        name: {path.relative_to(tmp_path / name): path.read_bytes() for path in found if path.is_file()}
        for name in said
        if (found := sorted((tmp_path / name).rglob("*")))
    }
    assert files["here"] == files["away"]
    assert len(files["here"]) > 22


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--zip"]])
def test_an_older_dataset_is_replaced_by_force_where_nothing_is_to_be_resumed(
    tmp_path: Path, options: list[str]
) -> None:
    target = tmp_path / "out"
    for number in range(2):
        group = zarr.open_group(tmp_path / str(number), mode="w", zarr_format=2)
        put(group, "a", np.full(4, number, "u1"), fill_value=9)
        command = [
            "export",
            str(tmp_path / str(number)),
            str(target),
            "--to",
            "zarr-v2",
            "--resume",
            *options,
        ]
        assert main([*command, "--force"]) == 0
    assert main(command) == 0
    with refbrowser.open(target) as dataset:
        assert dataset["/a"][...].tolist() == [1, 1, 1, 1]
    assert main([*command[:1], str(tmp_path / "0"), *command[2:]]) == 4
