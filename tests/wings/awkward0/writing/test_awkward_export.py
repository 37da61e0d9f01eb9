"""Exports as Awkward 0: what is written, kept and refused; a target is the old one or the new one, whole."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import zarr
from zarr_versions import put

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.request import ArrayChoice, ExportReport, ExportRequest
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.files.atomic import ChangedOnDiskError
from refbrowser.wings.awkward0.writing import written_arrays as blocks
from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing
from refbrowser.wings.awkward0.writing.places import ArchiveWriter
from refbrowser.wings.awkward0.writing.serialize import serialize

TARGETS = ("new.awkd", "new.h5", "new/")
#: Where rules are given arrays of Awkward 0 are not copied, but written by rows.
ROWS = ("default",)
NESTED = {
    "lists": [[1.5, None], None, [], [2.5, 3.5]],
    "records": [{"a": 1, "b": ["x"]}, {"a": 2, "b": []}, {"a": 3, "b": ["y", "z"]}],
    "union": [1, "x", [2], "y"],
    "texts": ["a", "", None, "zwölf"],
}


class Folder:
    """A sink that writes members of an archive."""

    def __init__(self, path: Path) -> None:
        self.file = zipfile.ZipFile(path, "w")

    def put(self, name: str, pieces: Any, most: int) -> None:
        data = b"".join(pieces)
        assert len(data) <= most
        self.file.writestr(name, data)


def nested_file(path: Path, arrays: dict[str, list[Any]] = NESTED) -> Path:
    sink = Folder(path)
    for name, values in arrays.items():
        serialize(ak.from_iter(values, highlevel=False), sink, name)
    sink.file.close()
    return path


@pytest.fixture
def nested(tmp_path: Path) -> Iterator[Dataset]:
    with refbrowser.open(str(nested_file(tmp_path / "source.awkd"))) as dataset:
        yield dataset


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Dataset]:
    group = zarr.open_group(tmp_path / "source.zarr", mode="w", zarr_format=2)
    for name, values in PLAIN.items():
        put(group, name, values, chunks=tuple(max(1, -(-side // 2)) for side in values.shape))
    group["grid"].attrs.update({"units": "m", "odd": "x"})
    with refbrowser.open(str(tmp_path / "source.zarr")) as dataset:
        yield dataset


PLAIN: dict[str, np.ndarray[Any, Any]] = {
    "numbers": np.arange(100, dtype="f4"),
    "grid": np.arange(60, dtype=">i2").reshape(5, 3, 4),
    "below/times": np.array(["2020-01-01", "NaT", "2021-05-05"], "M8[D]"),
    "record": np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")]),
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)),
    "flags": np.array([True, False]),
    "scalar": np.array(4.5),
    "nothing": np.array(np.nan),
}


def export(
    dataset: Dataset, target: Path | str, arrays: tuple[str, ...] = (), force: bool = False, **options: Any
) -> ExportReport:
    chosen = tuple(ArrayChoice(path) for path in arrays) or None
    writing = Awkward0Writing(**options)
    return run_export(dataset, ExportRequest(str(target), "awkward0", chosen, force=force, options=writing))


def read(path: Path | str) -> dict[str, Any]:
    """Return the values of all arrays of a file, by name."""
    with refbrowser.open(str(path)) as dataset:
        return {
            path.strip("/"): ak.to_list(array.to_awkward()) if array.shape else array[...].tolist()
            for path, array in dataset.arrays.items()
            if "node" not in path and not _is_field(dataset, path)
        }


def _is_field(dataset: Dataset, path: str) -> bool:
    above = path.rpartition("/")[0]
    return bool(above) and above in dataset.arrays


def kept(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder, or one file, with their bytes."""
    if folder.is_file():
        return {folder.name: folder.read_bytes()}
    return {str(each): each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("compression", [(), ROWS])
def test_nested_arrays_keep_their_structure(
    nested: Dataset, tmp_path: Path, target: str, compression: tuple[str, ...]
) -> None:
    report = export(nested, f"{tmp_path}/{target}", codec=compression)
    assert report.arrays == len(NESTED)
    assert report.copied == (0 if compression else report.chunks - report.arrays)
    assert report.verified == report.chunks > len(NESTED)
    assert report.losses == ()
    assert read(tmp_path / target) == NESTED
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_plain_arrays_of_any_rank_and_type(plain: Dataset, tmp_path: Path, target: str) -> None:
    export(plain, f"{tmp_path}/{target}")
    with refbrowser.open(str(tmp_path / target)) as dataset:
        assert dataset["/grid"].dtype == np.dtype(">i2")
        for name in ("numbers", "grid", "below/times", "flags"):
            np.testing.assert_array_equal(dataset[f"/{name}"][...], PLAIN[name])
            assert dataset[f"/{name}"].shape == PLAIN[name].shape
        assert dataset["/no rows"].shape == (0, 3)
        assert dataset["/scalar"][...] == 4.5
        assert ak.to_list(dataset["/no columns"].to_awkward()) == [[], [], []]
        assert ak.to_list(dataset["/record"].to_awkward()) == [{"a": 1, "b": 2.5}, {"a": 3, "b": 4.5}]
        assert np.isnan(dataset["/nothing"][...]).tolist() == [True]


def test_what_is_not_kept_is_told_before_and_after(plain: Dataset, tmp_path: Path) -> None:
    request = ExportRequest(str(tmp_path / "x"), "awkward0")
    told = estimate_export(plain, request).losses
    assert {loss.path for loss in told} == {"/no columns", "/record"}
    # That NaN is no JSON shows when it is read.
    assert {loss.path for loss in run_export(plain, request).losses} == {
        "/nothing",
        "/no columns",
        "/record",
    }


def test_attributes_are_kept_as_metadata(plain: Dataset, tmp_path: Path) -> None:
    export(plain, tmp_path / "x.awkd", ("/grid",))
    with zipfile.ZipFile(tmp_path / "x.awkd") as file:
        metadata = json.loads(file.read("grid.json"))["metadata"]
    assert metadata["attributes"] == {"units": "m", "odd": "x"}


@pytest.mark.slow
def test_rows_of_many_blocks_are_one_array(
    nested: Dataset, plain: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 8)
    told: list[dict[str, Any]] = []
    control = JobControl(publish=told.append)
    writing = Awkward0Writing(codec=ROWS)
    run_export(nested, ExportRequest(str(tmp_path / "nested"), "awkward0", options=writing), control)
    assert read(tmp_path / "nested.awkd") == NESTED
    assert told[-1]["done"] == told[-1]["total"] > len(NESTED)
    export(plain, tmp_path / "plain.awkd", ("/numbers", "/grid"))
    with refbrowser.open(str(tmp_path / "plain.awkd")) as dataset:
        np.testing.assert_array_equal(dataset["/grid"][...], PLAIN["grid"])
        np.testing.assert_array_equal(dataset["/numbers"][...], PLAIN["numbers"])


def test_a_part_of_the_rows(nested: Dataset, tmp_path: Path) -> None:
    chosen = (ArrayChoice.of(nested, "/lists", "1:4"),)
    run_export(nested, ExportRequest(str(tmp_path / "x"), "awkward0", chosen))
    assert read(tmp_path / "x.awkd") == {"lists": NESTED["lists"][1:4]}


# Names


def members(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as file:
        return set(file.namelist())


def test_the_name_of_an_archive_ends_as_it_must(plain: Dataset, tmp_path: Path) -> None:
    assert export(plain, tmp_path / "x", ("/numbers",)).target == str(tmp_path / "x.awkd")
    assert export(plain, tmp_path / "y.awkd", ("/numbers",)).target == str(tmp_path / "y.awkd")
    assert export(plain, tmp_path / "z.zip", ("/numbers",)).target == str(tmp_path / "z.zip.awkd")
    assert sorted(each.name for each in tmp_path.glob("*awkd")) == ["x.awkd", "y.awkd", "z.zip.awkd"]


def test_names_of_arrays_and_blobs(plain: Dataset, tmp_path: Path) -> None:
    export(plain, tmp_path / "one", ("/numbers",), name="mine")
    assert members(tmp_path / "one.awkd") == {"mine.json", "mine-0.raw"}
    export(plain, tmp_path / "none", ("/numbers",), name="")
    assert members(tmp_path / "none.awkd") == {".json", "0.raw"}
    export(
        plain,
        tmp_path / "two",
        ("/numbers", "/flags"),
        name="a/",
        delimiter="/",
        suffix="",
        schema_suffix=".s",
    )
    assert members(tmp_path / "two.awkd") == {"a/numbers.s", "a/numbers/0", "a/flags.s", "a/flags/0"}


@pytest.mark.parametrize("name", ["..", "a/../b", "/a", "a//b", "a\\b", "a\nb", "a::b"])
@pytest.mark.parametrize("target", ["new.awkd", "new/"])
def test_names_that_lead_elsewhere_are_refused(
    plain: Dataset, tmp_path: Path, name: str, target: str
) -> None:
    before = kept(tmp_path)
    with pytest.raises(RefbrowserError) as caught:
        export(plain, f"{tmp_path}/{target}", ("/numbers",), name=name)
    assert caught.value.kind is ErrorKind.USAGE
    assert kept(tmp_path) == before


@pytest.mark.parametrize("target", TARGETS)
def test_names_that_collide_stop_before_anything_is_written(
    plain: Dataset, tmp_path: Path, target: str
) -> None:
    options = {} if target == "new.h5" else {"delimiter": "", "suffix": "", "schema_suffix": ""}
    before = kept(tmp_path)
    with refbrowser.open(str(nested_file(tmp_path / "collide.awkd", {"a": [1], "a0": [2]}))) as dataset:
        before = kept(tmp_path)
        if target == "new.h5":
            with refbrowser.open(str(nested_file(tmp_path / "c.awkd", {"a": [1], "a/0": [2]}))) as other:
                before = kept(tmp_path)
                with pytest.raises(RefbrowserError):
                    export(other, tmp_path / target)
        else:
            with pytest.raises(RefbrowserError):
                export(dataset, f"{tmp_path}/{target}", **options)
    assert kept(tmp_path) == before


# Targets that are there


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_target_is_replaced_by_force_only(plain: Dataset, tmp_path: Path, target: str) -> None:
    export(plain, f"{tmp_path}/{target}", ("/numbers",))
    with pytest.raises(RefbrowserError) as caught:
        export(plain, f"{tmp_path}/{target}", ("/flags",))
    assert caught.value.kind is ErrorKind.IO
    assert list(read(tmp_path / target)) == ["numbers"]
    export(plain, f"{tmp_path}/{target}", ("/flags",), force=True)
    assert list(read(tmp_path / target)) == ["flags"]


@pytest.mark.parametrize("options", [{"force": True}, {"append": True}])
def test_a_write_protected_file_is_never_replaced(
    plain: Dataset, tmp_path: Path, options: dict[str, Any]
) -> None:
    target = tmp_path / "x.awkd"
    export(plain, target, ("/numbers",))
    target.chmod(0o444)
    before = target.read_bytes()
    with pytest.raises(RefbrowserError) as caught:
        export(plain, target, ("/flags",), **options)
    assert caught.value.kind is ErrorKind.IO
    assert target.read_bytes() == before


def test_a_folder_of_other_things_is_never_replaced(plain: Dataset, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter").write_text("dear")
    with pytest.raises(RefbrowserError):
        export(plain, f"{tmp_path}/home/", ("/flags",), force=True)
    assert (tmp_path / "home" / "letter").read_text() == "dear"


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_appending_keeps_what_is_there(nested: Dataset, plain: Dataset, tmp_path: Path, target: str) -> None:
    export(plain, f"{tmp_path}/{target}", ("/flags",))
    path = tmp_path / target
    if path.is_file():
        path.chmod(0o640)
    export(nested, f"{tmp_path}/{target}", ("/lists", "/texts"), append=True)
    wanted = {"flags": [True, False], "lists": NESTED["lists"], "texts": NESTED["texts"]}
    assert read(path) == wanted
    assert not path.is_file() or path.stat().st_mode & 0o777 == 0o640
    before = kept(path)
    with pytest.raises(RefbrowserError) as caught:
        export(nested, f"{tmp_path}/{target}", ("/records", "/lists"), append=True)
    assert caught.value.kind is ErrorKind.USAGE
    assert kept(path) == before


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_arrays_are_replaced_and_removed(
    nested: Dataset, plain: Dataset, tmp_path: Path, target: str
) -> None:
    path = f"{tmp_path}/{target}"
    export(plain, path, ("/flags", "/numbers"))
    export(nested, path, ("/records",), name="flags", replace=True)
    assert read(tmp_path / target)["flags"] == NESTED["records"]
    report = export(nested, path, ("/lists",), removed=("numbers",))
    assert report.arrays == 1
    assert read(tmp_path / target) == {"flags": NESTED["records"], "lists": NESTED["lists"]}
    with refbrowser.open(path) as dataset:
        export(dataset, path, removed=("flags",))
    assert read(tmp_path / target) == {"lists": NESTED["lists"]}
    with pytest.raises(RefbrowserError) as caught:
        export(plain, path, ("/flags",), removed=("flags",))
    assert caught.value.kind is ErrorKind.USAGE


def test_other_members_and_their_methods_stay(plain: Dataset, tmp_path: Path) -> None:
    target = tmp_path / "x.awkd"
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("deflated", b"abc" * 1000, zipfile.ZIP_DEFLATED)
        file.writestr("lzma", b"abc" * 1000, zipfile.ZIP_LZMA)
        file.writestr("zwölf", b"12")
        with file.open("large header", "w", force_zip64=True) as member:
            member.write(b"x")
    export(plain, target, ("/numbers",), append=True)
    export(plain, target, ("/flags",), name="numbers", replace=True)
    with zipfile.ZipFile(target) as file:
        assert file.testzip() is None
        assert file.read("deflated") == b"abc" * 1000
        assert file.getinfo("lzma").compress_type == zipfile.ZIP_LZMA
        assert file.read("lzma") == b"abc" * 1000
        assert file.read("zwölf") == b"12"
        assert file.read("large header") == b"x"
        assert sorted(file.namelist())[-4:] == ["lzma", "numbers-0.raw", "numbers.json", "zwölf"]


def test_nothing_is_written_through_a_link_in_a_folder(plain: Dataset, tmp_path: Path) -> None:
    export(plain, f"{tmp_path}/folder/", ("/flags",))
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "folder" / "out").symlink_to(outside)
    with pytest.raises(RefbrowserError):
        export(plain, f"{tmp_path}/folder/", ("/numbers",), name="out/numbers", append=True)
    assert not list(outside.iterdir())


def test_nothing_is_added_to_a_damaged_archive(plain: Dataset, tmp_path: Path) -> None:
    export(plain, tmp_path / "x.awkd", ("/numbers",))
    damaged = (tmp_path / "x.awkd").read_bytes()[:-30]
    (tmp_path / "x.awkd").write_bytes(damaged)
    with pytest.raises(RefbrowserError):
        export(plain, tmp_path / "x.awkd", ("/flags",), append=True)
    assert (tmp_path / "x.awkd").read_bytes() == damaged


# Whole or not at all


def interrupted(change: Callable[[], None]) -> JobControl:
    """Return a control that does something when the first block was written."""
    done = []

    def progress(*_: Any, **__: Any) -> None:
        if not done:
            done.append(1)
            change()

    return JobControl(publish=progress)


@pytest.mark.slow
@pytest.mark.parametrize("appends", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_a_cancelled_export_leaves_the_target_as_it_was(
    nested: Dataset, plain: Dataset, tmp_path: Path, target: str, appends: bool
) -> None:
    if appends:
        export(plain, f"{tmp_path}/{target}", ("/flags",))
    before = kept(tmp_path)
    token = CancelToken()

    def progress(*_: Any, **__: Any) -> None:
        token.cancel()

    request = ExportRequest(f"{tmp_path}/{target}", "awkward0", options=Awkward0Writing(append=appends))
    with pytest.raises(Cancelled):
        run_export(nested, request, JobControl(token, progress))
    assert kept(tmp_path) == before


@pytest.mark.parametrize("target", ["new.awkd", "new/"])
def test_a_failure_leaves_the_target_as_it_was(
    nested: Dataset, plain: Dataset, tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(plain, f"{tmp_path}/{target}", ("/flags",))
    before = kept(tmp_path)

    def fail(*_: Any) -> None:
        raise RefbrowserError(ErrorKind.DECODE, "no")

    monkeypatch.setattr("refbrowser.wings.awkward0.writing.awkward0_target.feed", fail)
    with pytest.raises(RefbrowserError):
        export(nested, f"{tmp_path}/{target}", append=True, codec=ROWS)
    assert kept(tmp_path) == before


def test_bytes_that_were_changed_are_found(
    plain: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = ArchiveWriter.finish

    def spoiled(self: ArchiveWriter) -> None:
        finish(self)
        self._file.seek(60)
        self._file.write(b"\xff")
        self._file.flush()

    monkeypatch.setattr(ArchiveWriter, "finish", spoiled)
    with pytest.raises(RefbrowserError, match="verification failed"):
        export(plain, tmp_path / "x.awkd", ("/numbers",))
    assert not (tmp_path / "x.awkd").exists()


def test_an_archive_that_another_program_changes_is_kept(
    nested: Dataset, plain: Dataset, tmp_path: Path
) -> None:
    target = tmp_path / "x.awkd"
    export(plain, target, ("/flags",))

    def change() -> None:
        target.write_bytes(b"mine")
        os.utime(target, (1, 1))

    request = ExportRequest(str(target), "awkward0", options=Awkward0Writing(append=True))
    with pytest.raises((ChangedOnDiskError, OSError)):
        run_export(nested, request, interrupted(change))
    assert target.read_bytes() == b"mine"


def test_arrays_that_cannot_be_read_are_left_out_where_asked(tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "s.zarr", mode="w", zarr_format=2)
    put(group, "bad", np.arange(10, dtype="i4"), chunks=(5,))
    put(group, "good", np.arange(10, dtype="i4"), chunks=(5,))
    (tmp_path / "s.zarr" / "bad" / "1").write_bytes(b"short")
    with refbrowser.open(str(tmp_path / "s.zarr")) as dataset:
        with pytest.raises(RefbrowserError):
            export(dataset, tmp_path / "x")
        assert not (tmp_path / "x.awkd").exists()
        report = run_export(dataset, ExportRequest(str(tmp_path / "x"), "awkward0", skip_bad=True))
    assert report.arrays == 1
    assert len(report.skipped) == 1
    assert read(tmp_path / "x.awkd") == {"good": list(range(10))}


def test_options_without_meaning_are_refused(plain: Dataset, tmp_path: Path) -> None:
    for request in (
        ExportRequest(str(tmp_path / "x"), "awkward0", resume=True),
        ExportRequest(str(tmp_path / "x.h5"), "awkward0", options=Awkward0Writing(suffix=".x")),
        ExportRequest(str(tmp_path / "x"), "awkward0", options=Awkward0Writing(codec=("no",))),
    ):
        with pytest.raises(RefbrowserError) as caught:
            run_export(plain, request)
        assert caught.value.kind is ErrorKind.USAGE
    assert [each.name for each in tmp_path.iterdir()] == ["source.zarr"]
