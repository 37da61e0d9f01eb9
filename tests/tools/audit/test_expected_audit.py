"""``audit --expect``: what is told, exit codes, reports; and folders of files without any document."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree

import pytest
from expected_sets import days, months, refs_of, write_refs

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.io.buckets.bucket import Bucket
from refbrowser.io.buckets.bucket_calls import ObjectFacts
from refbrowser.tools.audit.listed_place import audit_place

YEAR = "every month from 2015 to 2015"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    times = [*days("2015-01-01", "2015-02-28"), *days("2015-04-01", "2015-12-31")]
    return write_refs(tmp_path / "set.json", refs_of(times, variables=("t2m", "msl")))


def test_what_is_missing_is_told_by_variable_and_date(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--expect", YEAR, str(path)]) == 2
    out = capsys.readouterr().out
    assert "fault[expected-missing] expected data that are missing: 2 places" in out
    assert "    /t2m: 1 of 12 months missing: 2015-03\n" in out
    assert "    /msl: 1 of 12 months missing: 2015-03\n" in out
    assert main(["audit", str(path), "--expect", "every month from 2015-04 to 2015-12 of t2m"]) == 0
    assert main(["audit", str(path), "--expect", "often"]) == 2
    assert "'often' does not say which times are expected" in capsys.readouterr().err


def test_json_has_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(path), "--json", "--expect", "every day from 2015 to 2015 of t2m"]) == 2
    (of_t2m,) = json.loads(capsys.readouterr().out)["expected"]
    assert of_t2m == {
        "subject": "t2m",
        "path": "/t2m",
        "axis": {"step": "day", "calendar": "standard", "from": "2015", "to": "2015"},
        "expected": 365,
        "missing": 31,
        "extra": 0,
        "undecided": None,
        "runs": [
            {"state": "missing", "from": "2015-03", "to": "2015-03", "count": 31, "chunks": None, "of": None}
        ],
    }


def test_cases_are_of_a_variable_and_a_year_or_month(path: Path, tmp_path: Path) -> None:
    report = tmp_path / "cases.xml"
    assert main(["audit", str(path), "--expect", YEAR, "--junit", str(report)]) == 2
    cases = {case.get("name"): case.find("failure") for case in ElementTree.parse(report).iter("testcase")}
    failure = cases["expected: t2m: 2015"]
    assert failure is not None
    assert failure.get("message") == "1 of 12 missing: 2015-03"
    daily = "every day from 2015 to 2015 of t2m"
    assert main(["audit", str(path), "--expect", daily, "--junit", str(report)]) == 2
    found = [
        (case.get("name"), case.find("failure") is not None)
        for case in ElementTree.parse(report).iter("testcase")
        if str(case.get("name")).startswith("expected: ")
    ]
    assert found == [(f"expected: t2m: 2015-{month:02d}", month == 3) for month in range(1, 13)]


def test_a_page_has_a_table_of_all_variables(path: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["audit", str(path), "--expect", YEAR, "--html", str(page)]) == 2
    text = page.read_text()
    assert "What should be there" in text
    assert "12 months" in text
    assert "2015-03" in text


def test_from_python(path: Path) -> None:
    result = refbrowser.audit(path, expect=YEAR)
    assert [(each.subject, each.missing, each.expected) for each in result.expected] == [
        ("t2m", 1, 12),
        ("msl", 1, 12),
    ]
    with pytest.raises(RefbrowserError, match="not a step"):
        refbrowser.audit(path, expect=["every blue moon from 2015"])


def _files(folder: Path, names: list[str]) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_bytes(b"CDF\x01")
    return folder


def test_a_folder_of_files_is_held_against_a_pattern(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"a_2015-{month:02d}.nc" for month in range(1, 13) if month not in (3, 8)]
    folder = _files(tmp_path / "data", [*names, "a_2015-05_v2.nc", "a_2014-12.nc", "notes.txt"])
    words = f"{YEAR} in a_{{time:%Y-%m}}*.nc"
    assert main(["audit", str(folder), "--expect", words]) == 2
    out = capsys.readouterr().out
    assert "no file of 2 of 12 months: 2015-03, 2015-08" in out
    assert "several files of 1 month: 2015-05" in out
    assert "2 files not expected: a_2014-12.nc, notes.txt" in out
    # Without a pattern the folder is what it is.
    assert main(["audit", str(folder), "--expect", YEAR]) == 2
    assert "not a dataset" in capsys.readouterr().err


def test_files_of_references_and_of_their_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = months("2015-01", "2015-12")
    refs = refs_of(times)
    for at in range(12):
        refs[f"t2m/{at}.0"] = [f"data/a_2015-{at + 1:02d}.nc", 0, 8]
    del refs["t2m/4.0"]
    path = write_refs(tmp_path / "set.json", refs)
    _files(tmp_path / "data", [f"a_2015-{month:02d}.nc" for month in range(2, 13)])
    words = f"{YEAR} in data/a_{{time:%Y-%m}}.nc"
    assert main(["audit", str(path), "--expect", words]) == 2
    out = capsys.readouterr().out
    assert "references to data/a_{time:%Y-%m}.nc: no file of 1 of 12 months: 2015-05" in out
    assert "2015-01" not in out
    assert main(["audit", str(path), "--expect", words, "--level", "stat"]) == 2
    assert "files data/a_{time:%Y-%m}.nc: no file of 1 of 12 months: 2015-01" in capsys.readouterr().out


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The URL of the folder, which a web server lists."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    class Patient(ThreadingHTTPServer):
        # With the five of the library, connections that begin at once wait for seconds.
        request_queue_size = 100

    server = Patient(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_a_listing_of_a_server_and_the_file_beside_a_document_there(
    path: Path, tmp_path: Path, served: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _files(tmp_path / "files", [f"a_2015-{month:02d}.nc" for month in range(1, 12)])
    words = f"{YEAR} in a_{{time:%Y-%m}}.nc"
    assert main(["audit", f"{served}/files", "--expect", words]) == 2
    assert "no file of 1 of 12 months: 2015-12" in capsys.readouterr().out
    assert main(["expect", str(path), "--set", YEAR]) == 0
    capsys.readouterr()
    # Nothing is asked for at the level set.
    assert main(["audit", f"{served}/set.json"]) == 0
    main(["audit", f"{served}/set.json", "--level", "stat"])
    assert "/t2m: 1 of 12 months missing: 2015-03" in capsys.readouterr().out


def test_objects_of_a_bucket_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def objects(self: Bucket, prefix: str) -> Iterator[ObjectFacts]:
        assert prefix == "era5/"
        for key in ("era5/2015/a_03.nc", "era5/2015/a_05.nc", "era5/2016/a_01.nc", "era5/2015/list.txt"):
            yield ObjectFacts(key, 1, "tag", "")

    monkeypatch.setattr(Bucket, "objects", objects)
    words = "every month from 2015-03 to 2015-06 in {time:%Y}/a_{time:%m}.nc"
    result = audit_place("s3://met/era5", [words], "", JobControl())
    assert result is not None
    assert [finding.message.partition(": ")[2] for finding in result.findings] == [
        "no file of 2 of 4 months: 2015-04, 2015-06",
        "2 files not expected: a_01.nc, list.txt",
    ]


def test_another_place_is_listed_only_where_that_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own").mkdir()
    path = write_refs(tmp_path / "own/set.json", refs_of([1]))
    folder = _files(tmp_path / "other", ["a_2015.nc"])
    words = f"every year from 2015 to 2015 in {folder}/a_{{time:%Y}}.nc"
    main(["audit", str(path), "--expect", words, "--level", "stat"])
    out = capsys.readouterr().out
    assert "not checked: " in out
    assert f"files {folder}" not in out
