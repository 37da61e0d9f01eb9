"""Files that store an array in many ways become one array: chunks that no file has so are written anew."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import CombineReport, combine, gather, plan_of
from refbrowser.exporting.saving import chunk_sink
from refbrowser.model.cf import parsed_number

LAT = 6
CODECS: dict[str, dict[str, Any]] = {
    "none": {},
    "gzip": {"compression": "gzip"},
    "shuffled": {"compression": "gzip", "shuffle": True},
    "checked": {"compression": "gzip", "compression_opts": 9, "fletcher32": True},
}


@dataclass(frozen=True)
class Stored:
    """How a file stores its numbers.

    Attributes
    ----------
    scale, offset
        None where the file has no such attribute.
    chunk
        Along time; 0 for all of it.
    """

    dtype: str = "<i2"
    scale: float | None = 0.01
    offset: float | None = 280.0
    chunk: int = 1
    codec: str = "shuffled"
    fill: int = -32768
    lat: int = LAT


def numbers(start: int, length: int) -> np.ndarray:
    """Return temperatures that all packings of the tests hold exactly, and a missing one."""
    steps = np.arange(start, start + length)[:, None] * 3 + np.arange(LAT)
    found = 280 + 0.5 * (steps % 40)
    found[(steps % 11) == 0] = np.nan
    return found


def packed(values: np.ndarray, stored: Stored) -> np.ndarray:
    kind = np.dtype(stored.dtype)
    found = (values - (stored.offset or 0)) / (stored.scale or 1)
    whole = np.rint(found) if kind.kind in "iu" else found
    return np.where(np.isnan(values), stored.fill, whole).astype(kind)


def held(values: np.ndarray, stored: Stored) -> np.ndarray:
    """Return values as a file gives them."""
    found = packed(values, stored).astype("f8") * (stored.scale or 1) + (stored.offset or 0)
    return np.where(np.isnan(values), np.nan, found)


def write(path: Path, start: int, length: int, stored: Stored, values: np.ndarray | None = None) -> Path:
    """Write a file of a few times."""
    values = numbers(start, length) if values is None else values
    kind, data = np.dtype(stored.dtype), packed(values, stored)
    with h5py.File(path, "w") as file:
        times = file.create_dataset("time", data=np.arange(start, start + length, dtype="i4"))
        times.attrs["units"] = "days since 2000-01-01"
        times.make_scale("time")
        file.create_dataset("lat", data=np.arange(LAT, dtype="f4")).make_scale("lat")
        t = file.create_dataset(
            "t",
            data=data,
            chunks=(min(stored.chunk or length, length), stored.lat),
            fillvalue=kind.type(stored.fill),
            maxshape=(None, LAT),
            **CODECS[stored.codec],
        )
        t.attrs["_FillValue"] = np.array([stored.fill], kind)
        for name, value in (("scale_factor", stored.scale), ("add_offset", stored.offset)):
            if value is not None:
                t.attrs[name] = value
        for axis, name in enumerate(("time", "lat")):
            t.dims[axis].attach_scale(file[name])
    return path


def files_of(folder: Path, parts: list[tuple[int, Stored]]) -> list[Path]:
    """Write files of lengths one after another."""
    folder.mkdir(exist_ok=True)
    start, found = 0, []
    for number, (length, stored) in enumerate(parts):
        found.append(write(folder / f"f{number:02}.nc", start, length, stored))
        start += length
    return found


def combined(files: list[Path], target: Path, **more: Any) -> CombineReport:
    sources = tuple(map(str, files))
    return combine(Combination(sources=sources, target=str(target), concat=("time",), reencode=True, **more))


def decoded(target: Path) -> np.ndarray:
    """Return the values of the result as its attributes say, by numpy alone."""
    with refbrowser.open(target, allow=[str(target.parent)]) as made:
        raw, node = np.asarray(made["t"][...]), made.hierarchy.find("/t")
        attributes = node.attributes
        # In Zarr v3 an attribute has it, as xarray writes it there.
        fill = attributes.get("_FillValue", node.fill_value)
        fill = parsed_number(np.ravel(fill)[0].item())
        values = raw * attributes.get("scale_factor", 1.0) + attributes.get("add_offset", 0.0)
        return np.where(raw == fill, np.nan, values)


def is_near(one: np.ndarray, other: np.ndarray, error: float = 0.0) -> bool:
    return bool(np.allclose(one, other, rtol=1e-12, atol=error, equal_nan=True))


def test_an_era_of_other_packing_becomes_own_chunks(tmp_path: Path) -> None:
    usual = Stored()
    files = files_of(tmp_path / "f", [(5, usual), (4, Stored(scale=0.5)), (6, usual)])
    report = combined(files, tmp_path / "all.json")
    (own,) = report.own
    assert (own.path, own.chunks, own.of, own.rounded, own.error) == ("/t", 4, 15, 0, 0.0)
    assert is_near(decoded(tmp_path / "all.json"), numbers(0, 15))
    refs = json.loads((tmp_path / "all.json").read_text())["refs"]
    kinds = [isinstance(refs[f"t/{day}.0"], list) for day in range(15)]
    assert kinds == [True] * 5 + [False] * 4 + [True] * 6
    told = [each.message for each in report.mismatches if each.kind == "own chunks"]
    assert "4 of 15 chunks become own chunks" in told[0]


def test_without_the_option_it_is_offered(tmp_path: Path) -> None:
    files = files_of(tmp_path / "f", [(5, Stored()), (4, Stored(codec="gzip")), (6, Stored())])
    request = Combination(sources=tuple(map(str, files)), target="x.json", concat=("time",))
    plan = plan_of(gather(request), request)
    assert [each.kind for each in plan.blocking] == ["codecs"]
    assert plan.blocking[0].remedies[0].option == "--reencode"
    assert not plan_of(gather(request), plan.blocking[0].remedies[0].applied(request)).blocking


def test_values_that_would_be_rounded_are_told_and_refused(tmp_path: Path) -> None:
    usual, odd = Stored(scale=1.0, offset=0.0), Stored(scale=0.5, offset=0.0)
    files = files_of(tmp_path / "f", [(9, usual), (4, odd), (6, usual)])
    target = tmp_path / "all.json"
    target.write_text("before")
    with pytest.raises(RefbrowserError, match=r"would be rounded .* by 0\.5 at most") as caught:
        combined(files, target, force=True)
    assert caught.value.kind is ErrorKind.META
    assert "--accept rounding:t" in caught.value.advice
    assert target.read_text() == "before"
    report = combined(files, target, force=True, accept=("rounding:t",))
    assert report.own[0].error == 0.5
    assert report.own[0].rounded > 0
    found = decoded(target)
    assert is_near(found[9:13], numbers(9, 4), 0.5)
    assert is_near(
        np.delete(found, range(9, 13), 0), np.rint(np.delete(numbers(0, 19), range(9, 13), 0)), 0.5
    )


def test_values_that_have_no_place_are_never_written(tmp_path: Path) -> None:
    files = files_of(tmp_path / "f", [(9, Stored()), (1, Stored())])
    warm = numbers(10, 3)
    warm[1, 2] = 900.0
    files.append(write(tmp_path / "f" / "f02.nc", 10, 3, Stored(scale=0.5), warm))
    target = tmp_path / "all.json"
    with pytest.raises(RefbrowserError, match=r"1 values of '/t' have no place .* from 900 to 900"):
        combined(files, target, accept=("rounding",))
    assert not target.exists()
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def test_many_own_chunks_lie_in_a_file_beside_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_sink, "_HELD", 20)
    files = files_of(tmp_path / "f", [(5, Stored()), (4, Stored(scale=0.5)), (6, Stored())])
    target = tmp_path / "all.json"
    combined(files, target)
    (first,) = tmp_path.glob("all.json.*.chunks")
    refs = json.loads(target.read_text())["refs"]
    assert {refs[f"t/{day}.0"][0] for day in range(5, 9)} == {first.name}
    assert is_near(decoded(target), numbers(0, 15))
    # What is made anew has its own file, and takes the older one away.
    write(files[1], 5, 4, Stored(scale=0.25))
    files.append(write(tmp_path / "f" / "f03.nc", 15, 2, Stored(scale=0.5)))
    combined(files, target, force=True)
    (second,) = tmp_path.glob("all.json.*.chunks")
    assert second.name != first.name
    assert is_near(decoded(target), numbers(0, 17))
    # What cannot be made leaves that file, and no other.
    write(files[1], 5, 4, Stored(scale=0.5), numbers(5, 4) * 9)
    with pytest.raises(RefbrowserError):
        combined(files, target, force=True)
    assert [*tmp_path.glob("*all.json.*")] == [second]


def test_a_size_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.exporting.combining import own_chunks
    from refbrowser.limits import LIMITS

    monkeypatch.setattr(own_chunks, "LIMITS", type(LIMITS)(own_chunks_question=10))
    files = files_of(tmp_path / "f", [(5, Stored()), (4, Stored(scale=0.5)), (6, Stored())])
    asked = ["make", *map(str, files), "--concat", "time", "--reencode", "-o", str(tmp_path / "all.json")]
    assert main(asked) == 2
    assert not (tmp_path / "all.json").exists()
    assert main([*asked, "--yes"]) == 0


STORED = st.builds(
    Stored,
    dtype=st.sampled_from(["<i2", ">i2", "<i4", "<f4", ">f8"]),
    scale=st.sampled_from([None, 0.5, 0.25, 0.1]),
    offset=st.sampled_from([None, 0.0, 280.0]),
    chunk=st.sampled_from([0, 1, 2, 5]),
    codec=st.sampled_from(list(CODECS)),
    fill=st.sampled_from([-32768, -999]),
    lat=st.sampled_from([LAT, 2]),
)


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ways=st.lists(STORED, min_size=1, max_size=3),
    parts=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 2)), min_size=1, max_size=6),
    form=st.sampled_from([".json", ".parq"]),
    most=st.sampled_from([50, 1 << 20]),
)
def test_odd_sets_give_the_values_of_their_files(
    tmp_path_factory: pytest.TempPathFactory,
    ways: list[Stored],
    parts: list[tuple[int, int]],
    form: str,
    most: int,
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    files = files_of(folder / "f", [(length, ways[way % len(ways)]) for length, way in parts])
    starts = np.cumsum([0, *(length for length, _ in parts)])
    expected = np.concatenate(
        [
            held(numbers(int(start), length), ways[way % len(ways)])
            for start, (length, way) in zip(starts, parts, strict=False)
        ]
    )
    target = folder / f"all{form}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_sink, "_HELD", most)
        why = ""
        try:
            report = combined(files, target)
        except RefbrowserError as error:
            why = error.message
        if why:
            # Numbers of one packing need not be those of another: then it is told, and nothing is there.
            assert ("rounded" in why, "no place" in why).count(True) == 1, why
            assert [each.name for each in folder.iterdir()] == ["f"]
            if "no place" in why:
                return
            report = combined(files, target, accept=("rounding",))
    error = max((each.error for each in report.own), default=0.0)
    assert is_near(decoded(target), expected, error * (1 + 1e-9))


def test_zarr_reads_own_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setattr(chunk_sink, "_HELD", 20)
    files = files_of(
        tmp_path, [(5, Stored()), (4, Stored(dtype=">i4", codec="gzip", chunk=3)), (6, Stored())]
    )
    combined(files, tmp_path / "all.json")
    monkeypatch.chdir(tmp_path)
    mapper = fsspec.filesystem("reference", fo="all.json", asynchronous=True)
    store = zarr.storage.FsspecStore(mapper, path="", read_only=True)
    raw = zarr.open_group(store, mode="r", zarr_format=2)["t"][...]
    assert is_near(np.where(raw == -32768, np.nan, raw * 0.01 + 280), numbers(0, 15))


def split(files: list[Path], target: Path, **more: Any) -> CombineReport:
    sources = tuple(map(str, files))
    request = Combination(sources=sources, target=str(target), concat=("time",), split="eras", **more)
    return combine(request)


def test_eras_become_groups_of_one_tree(tmp_path: Path) -> None:
    parts = [(31, Stored()), (28, Stored()), (31, Stored(dtype=">f4", scale=None, chunk=7)), (30, Stored())]
    files = files_of(tmp_path / "f", parts)
    report = split(files, tmp_path / "all.json")
    paths = ["/era1_2000-01-01_2000-02-28", "/era2_2000-02-29_2000-03-30", "/era3_2000-03-31_2000-04-29"]
    assert [each.path for each in report.eras] == paths
    assert [len(each.files) for each in report.eras] == [2, 1, 1]
    assert "/t type f4" in report.eras[1].what
    assert report.own == []
    assert report.compared >= 12
    with refbrowser.open(tmp_path / "all.json", allow=[str(tmp_path)]) as made:
        for path, start, (length, stored) in zip(
            paths, (0, 59, 90), [(59, Stored()), parts[2], parts[3]], strict=True
        ):
            raw = np.asarray(made[f"{path}/t"][...])
            expected = np.concatenate([packed(numbers(start, length), stored)])
            assert np.array_equal(raw, expected), path
            assert np.array_equal(made[f"{path}/time"][...], np.arange(start, start + length))


def test_files_that_are_stored_alike_need_no_groups(tmp_path: Path) -> None:
    files = files_of(tmp_path / "f", [(5, Stored()), (6, Stored())])
    report = split(files, tmp_path / "all.json")
    assert report.eras == []
    assert "no groups are made" in report.mismatches[-1].message
    assert is_near(decoded(tmp_path / "all.json"), numbers(0, 11))


def test_eras_are_told_and_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = files_of(tmp_path / "f", [(5, Stored()), (4, Stored(scale=0.5)), (6, Stored())])
    asked = ["make", *map(str, files), "--concat", "time", "-o", str(tmp_path / "all.json")]
    assert main(asked) == 2
    told = capsys.readouterr().err
    assert "--split eras  (split into eras, a group each)" in told
    assert main([*asked, "--split", "eras", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["what"] for each in told["groups"]] == [
        ["/t scale_factor 0.01"],
        ["/t scale_factor 0.5"],
        ["/t scale_factor 0.01"],
    ]
    assert told["sizes"] == {
        f"{each['path']}/time"[1:]: size for each, size in zip(told["groups"], (5, 4, 6), strict=True)
    }
    assert main([*asked, "--split", "eras", "--reencode", "--force"]) != 0
    assert "either --split or --reencode" in capsys.readouterr().err


def test_appended_files_may_be_stored_otherwise(tmp_path: Path) -> None:
    usual = Stored(chunk=2)
    files = files_of(
        tmp_path / "f", [(4, usual), (5, usual), (3, Stored(scale=0.5, dtype="<i4", codec="gzip"))]
    )
    target = tmp_path / "all.json"
    combined(files[:2], target)
    assert main(["append", str(target), str(files[2])]) == 2
    # The last chunk of the document is not full: it is filled with what follows.
    refbrowser.append(target, files[2], reencode=True)
    assert is_near(decoded(target), numbers(0, 12))
    refs = json.loads(target.read_text())["refs"]
    assert [isinstance(refs[f"t/{at}.0"], list) for at in range(6)] == [True] * 4 + [False] * 2


def test_the_parquet_form_has_chunks_of_one_side(tmp_path: Path) -> None:
    whole = Stored(chunk=0)
    files = files_of(tmp_path / "f", [(5, whole), (4, whole), (5, whole)])
    report = combined(files, tmp_path / "all.parq")
    assert (report.own[0].chunks, report.own[0].of) == (2, 3)
    assert is_near(decoded(tmp_path / "all.parq"), numbers(0, 14))
    # A document has chunks as the files do, and says which software knows them.
    report = combined(files, tmp_path / "all.json")
    assert report.own == []
    assert any("unequal sides" in each.message for each in report.mismatches)
    assert is_near(decoded(tmp_path / "all.json"), numbers(0, 14))
