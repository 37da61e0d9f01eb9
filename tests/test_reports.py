"""What functions of the API give: shown in a few lines, and options of exports as keywords."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.option_fields import groups
from refbrowser.exporting.targets.keywords import ExportKeywords
from refbrowser.formats.option_fields import declared


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The sample, where the test runs."""
    monkeypatch.chdir(tmp_path)
    return refbrowser.sample()


def test_reports_are_shown_in_a_few_lines(sample: str) -> None:
    refs = json.loads(json.dumps(refbrowser.expand(sample)))
    Path("other.json").write_text(json.dumps({**refs, "ocean/.zattrs": '{"title": "<b>\\u001b[31m"}'}))
    exported = refbrowser.export(sample, "sst.zarr", format="zarr-v3", arrays=["/ocean/sst"])
    shown: dict[str, Any] = {
        "audit (set): 0 faults, 5 warnings": refbrowser.audit(sample),
        f"{sample} and other.json: different": refbrowser.diff(sample, "other.json"),
        "This element is 27.658 degree_Celsius": refbrowser.explain(sample, "/ocean/sst", (0, 90, 180)),
        "folded: ": refbrowser.fold(sample),
        "Now: chunks 1,90,360": refbrowser.cost(sample, "/ocean/sst"),
        f"{sample}.lock.json: 17 files locked": refbrowser.lock(sample),
        "sst.zarr (zarr-v3): 1 array, 24 chunks": exported,
        "17 files in 127 references move": refbrowser.move(sample, "data/", "https://x.org/d/"),
        "1 document made, 0 files left out": refbrowser.make("sst.zarr", "made.json"),
        "two.json: 1 file as one: time 12": refbrowser.combine("sst.zarr", "two.json", concat="time"),
        f"{sample}  refs-v1 (Zarr v2)": refbrowser.info(sample),
        "merged: 0 edits, 0 conflicts": refbrowser.merge(sample, sample, sample),
    }
    for first, report in shown.items():
        assert repr(report).startswith(first)
        assert str(report) == repr(report) or first.startswith("This element")
        assert report._repr_html_().startswith('<div class="rb">')
        assert "dataclass" not in repr(report)
        assert "\x1b" not in repr(report)
    finding = refbrowser.check(sample)[0]
    assert repr(finding).startswith(
        "<warning E_META: 1 of 12 chunks have no reference, the others have one ("
    )


def test_a_report_shows_names_of_files_as_text(tmp_path: Path) -> None:
    path = tmp_path / "<b>\x1b[31m.json"
    path.write_text('{".zgroup": "{\\"zarr_format\\": 2}"}')
    found = refbrowser.info(path)
    assert "\x1b" not in repr(found)
    assert "<b>" in repr(found)
    assert "&lt;b&gt;" in found._repr_html_()


def test_info_is_what_the_command_prints(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = refbrowser.info(sample)
    assert main(["info", sample, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found.to_json()
    assert main(["info", sample]) == 0
    assert capsys.readouterr().out.startswith("\n".join(found.text))
    with refbrowser.open(sample) as dataset:
        assert refbrowser.info(dataset)["arrays"].keys() == dataset.arrays.keys()
    assert [each.kind for each in found.problems] == ["E_META", "E_META"]


def test_a_document_is_moved(sample: str) -> None:
    refbrowser.lock(sample)
    shown = refbrowser.move(sample, "data/", "https://data.example.org/")
    assert (shown.files, shown.references) == (17, 127)
    assert not Path("moved.json").exists()
    refbrowser.move(sample, "data/", "https://data.example.org/", "moved.json")
    urls = {row[0] for row in refbrowser.expand("moved.json").values() if isinstance(row, list)}
    assert {url.rpartition("/")[0] for url in urls} == {"https://data.example.org"}
    locked = json.loads(Path("moved.json.lock.json").read_text())["files"]
    assert len(locked) == 17
    assert all(url.startswith("https://data.example.org/") for url in locked)
    with pytest.raises(FileExistsError):
        refbrowser.move(sample, "data/", "https://data.example.org/", "moved.json")
    with pytest.raises(RefbrowserError, match="no URL of the document begins with 'dato/'"):
        refbrowser.move(sample, "dato/", "x/")


def test_options_of_exports_are_keywords(sample: str) -> None:
    """Each by its own name; of those that a format has not it is told which it has."""
    known = {name for group in groups() for name in declared(group)}
    assert set(get_type_hints(ExportKeywords)) == known
    refbrowser.export(
        sample,
        "a.zarr",
        format="zarr-v3",
        arrays=["/ocean/sst"],
        chunks=(1, 45, 90),
        shards="1,90,360",
        codec="zstd:3",
    )
    with refbrowser.open("a.zarr") as dataset:
        array = dataset.array("/ocean/sst")
        assert array.chunks == (1, 90, 360)
        told = json.loads(Path("a.zarr/ocean/sst/zarr.json").read_text())
        (sharding,) = told["codecs"]
        assert sharding["configuration"]["chunk_shape"] == [1, 45, 90]
        assert "zstd" in [each["name"] for each in sharding["configuration"]["codecs"]]
    refbrowser.export(
        sample,
        "b",
        format="zarr-v2",
        arrays=["/ocean/lat"],
        array_chunks={"/ocean/lat": [9]},
        container="zip",
    )
    with refbrowser.open("b.zip" if Path("b.zip").exists() else "b") as dataset:
        assert dataset.array("/ocean/lat").chunks == (9,)
    refbrowser.export(sample, "c.awkd", format="awkward0", arrays=["/ocean/lat"], codec="zlib:6")
    assert Path("c.awkd").exists()
    with pytest.raises(RefbrowserError, match="'shards' is not an option of ncstream") as caught:
        refbrowser.export(sample, "d.ncs", format="ncstream", shards="1")
    assert caught.value.advice == "it has profile, codec, tile_size, checksum"
    with pytest.raises(RefbrowserError, match="'codec' is said besides"):
        refbrowser.export(sample, "e", format="zarr-v2", options=refbrowser.StoreOptions(), codec="none")


def test_an_old_name_of_a_keyword_goes_on_working(sample: str) -> None:
    refbrowser.lock(sample)
    with pytest.warns(DeprecationWarning, match="accept is called update now"):
        refbrowser.lock(sample, accept=["data/sst_2024-01.dat"])
