"""Tables of messages that kerchunk makes of indexes of GRIB files, in the parquet form, open as arrays."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grib_inventory import wgrib2_lines
from grib_made import message, own_values
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.grib_index.chunk_table import read_chunk_table
from refbrowser.formats.library.joined_files import ROOM, JoinedFiles
from refbrowser.formats.sniffing import FileKind, NotReferencesError
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.byte_sources import LocalBytes, RemoteBytes
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.limits import Limits

pytest.importorskip("eccodes")
pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pandas = pytest.importorskip("pandas")
indexing = pytest.importorskip("kerchunk._grib_idx")

DATES, STEPS, LEVELS = ("2024-01-01", "2024-01-02"), (6, 12), (850, 500)
_SIDES = {"Ni": 4, "Nj": 3, "latitudeOfFirstGridPointInDegrees": 60, "longitudeOfFirstGridPointInDegrees": 0}
_SIDES |= {"latitudeOfLastGridPointInDegrees": 56, "longitudeOfLastGridPointInDegrees": 6}
#: What kerchunk calls the messages of each file, in their order.
_TOLD = {
    "varname": ["t", "t", "t2m", "tp"],
    "typeOfLevel": ["isobaricInhPa", "isobaricInhPa", "heightAboveGround", "surface"],
    "stepType": ["instant", "instant", "instant", "accum"],
    "name": ["Temperature", "Temperature", "2 metre temperature", "Total precipitation"],
    "level": [850.0, 500.0, 2.0, 0.0],
}


def field(number: float, sample: str = "regular_ll_sfc_grib2", **keys: Any) -> bytes:
    return message(sample, np.arange(12.0) + number, **_SIDES | keys)


def write(folder: Path) -> dict[tuple[str, int], list[bytes]]:
    """Write a GRIB file and its inventory for each run and step; return their messages."""
    made = {}
    for day, date in enumerate(DATES):
        for step in STEPS:
            at = {"dataDate": int(date.replace("-", "")), "dataTime": 0, "step": step}
            number = 1000 * day + 10 * step
            made[date, step] = [
                *(field(number + each, "regular_ll_pl_grib2", level=each, **at) for each in LEVELS),
                field(number, shortName="2t", **at),
                field(number + 5, shortName="tp", stepType="accum", stepRange=f"0-{step}", **at),
            ]
            path = folder / f"gfs.{date}.f{step:03}.grib2"
            path.write_bytes(b"".join(made[date, step]))
            Path(f"{path}.idx").write_text("\n".join(wgrib2_lines(path)) + "\n")
    return made


def mapping(path: str, step: int) -> Any:
    """Return kerchunk's mapping of a file: what the inventory says, and what the messages say."""
    index = indexing.parse_grib_idx(path).rename(columns={"offset": "offset_idx", "length": "length_idx"})
    times = {"time": pandas.Timestamp(DATES[0]), "step": pandas.Timedelta(hours=step)}
    told = pandas.DataFrame(_TOLD, index=index.index).assign(**times, uri=path, inline_value=None)
    told["valid_time"] = told.time + told.step
    told["offset_grib"], told["length_grib"] = index.offset_idx, index.length_idx
    return index.join(told)


def chunk_index(folder: Path, place: str = "") -> Any:
    """Return the table that kerchunk makes of the inventories in a folder."""
    tables = []
    for step in STEPS:
        first = mapping(str(folder / f"gfs.{DATES[0]}.f{step:03}.grib2"), step)
        for date in DATES:
            index = indexing.parse_grib_idx(str(folder / f"gfs.{date}.f{step:03}.grib2"))
            tables.append(indexing.map_from_index(pandas.Timestamp(date), first, index))
    found = pandas.concat(tables)
    return found.assign(uri=found.uri.str.replace(str(folder), place)) if place else found


def places(dataset: refbrowser.Dataset, table: Any) -> None:
    """Check that each row of a table is the reference of the chunk of its time, step and level."""
    axes = {name: dataset[f"/{name}"][...].tolist() for name in ("time", "step", "isobaricInhPa")}
    refs = json.loads(b"".join(dataset.document.to_plain_chunks()))["refs"]
    for row in table.itertuples():
        at = [
            axes["time"].index(row.time.timestamp()),
            axes["step"].index(row.step.total_seconds() / 3600),
            *([axes["isobaricInhPa"].index(row.level)] if row.varname == "t" else []),
        ]
        key = ".".join(map(str, [*at, 0, 0]))
        assert refs[f"{row.varname}/{key}"] == [row.uri, row.offset, row.length]


@pytest.mark.slow
def test_each_row_is_the_chunk_of_its_time_step_and_level(tmp_path: Path) -> None:
    made = write(tmp_path)
    table = chunk_index(tmp_path)
    path = tmp_path / "gfs.parquet"
    table.to_parquet(path)
    with refbrowser.open(path) as dataset:
        assert dataset.format == "grib-index"
        assert not dataset.document.notes
        assert dataset["/t"].node.dimensions == ("time", "step", "isobaricInhPa", "latitude", "longitude")
        places(dataset, table)
        for day, date in enumerate(DATES):
            for number, step in enumerate(STEPS):
                upper, lower, near, rain = made[date, step]
                for name, level, data in (("/t", [1], upper), ("/t", [0], lower), ("/t2m", [], near)):
                    values = dataset[name][(day, number, *level)]
                    assert np.array_equal(values.reshape(-1), own_values(data))
                assert np.array_equal(dataset["/tp"][day, number].reshape(-1), own_values(rain))
    assert main(["check", str(path)]) == 0
    # Others have steps as hours.
    hours = tmp_path / "hours.parquet"
    table.assign(step=table.step.dt.total_seconds() / 3600).to_parquet(hours)
    with refbrowser.open(hours) as dataset:
        places(dataset, table)
    target = tmp_path / "made.json"
    refbrowser.make(path, target)
    with refbrowser.open(target) as again, refbrowser.open(path) as dataset:
        assert np.array_equal(again["/t"][...], dataset["/t"][...])


@pytest.mark.slow
def test_a_mapping_of_one_file_is_such_a_table_too(tmp_path: Path) -> None:
    made = write(tmp_path)
    file = tmp_path / f"gfs.{DATES[0]}.f006.grib2"
    path = tmp_path / "mapping.parquet"
    mapping(str(file), 6).to_parquet(path)
    other = tmp_path / "elsewhere"
    other.mkdir()
    moved = file.rename(other / "moved.grib2")
    for options in ({"grib": str(moved)}, {"allow": [str(other)], "grib": str(moved)}):
        with refbrowser.open(path, **options) as dataset:
            assert np.array_equal(dataset["/t"][1].reshape(-1), own_values(made[DATES[0], 6][0]))
    chunk_index_of_all = tmp_path / "all.parquet"
    moved.rename(file)
    chunk_index(tmp_path).to_parquet(chunk_index_of_all)
    with refbrowser.open(chunk_index_of_all, grib=str(file)) as dataset:
        assert "one cannot stand for all" in dataset.document.notes[0].message
    other = tmp_path / "others"
    other.mkdir()
    for each in tmp_path.glob("*.grib2"):
        each.rename(other / each.name)
    with refbrowser.open(chunk_index_of_all, grib=f"{other}/") as dataset:
        assert np.array_equal(dataset["/t"][1, 1, 1].reshape(-1), own_values(made[DATES[1], 12][0]))


@pytest.mark.slow
def test_most_messages_of_files_elsewhere_stay_unread(tmp_path: Path) -> None:
    made = write(tmp_path)
    files = {f"/{each.name}": each.read_bytes() for each in tmp_path.glob("*.grib2")}
    path = tmp_path / "gfs.parquet"
    with HttpServer(files) as server:
        chunk_index(tmp_path, server.url("")).to_parquet(path)
        with refbrowser.open(path) as dataset:
            assert [each.kind for each in dataset.document.notes] == [ErrorKind.BLOCKED]
            assert dataset["/messages/offset"].shape == (16,)
            with pytest.raises(RefbrowserError) as caught:
                dataset["/t"][...]
            assert caught.value.kind is ErrorKind.BLOCKED
        assert server.request_count == 0
        with refbrowser.open(path, allow=[server.url("")]) as dataset:
            values = dataset["/t"][1, 1, 1].reshape(-1)
            assert np.array_equal(values, own_values(made[DATES[1], 12][0]))


@pytest.mark.slow
def test_the_table_tells_what_its_columns_mean(tmp_path: Path) -> None:
    write(tmp_path)
    table = chunk_index(tmp_path)
    path = tmp_path / "gfs.parquet"
    table.to_parquet(path)
    with refbrowser.open(path, messages=True) as dataset:
        names = [each.removeprefix("/messages/") for each in dataset.arrays]
        assert names == [
            "message", "part", "offset", "length", "time", "varname", "typeOfLevel", "stepType", "name",
            "step", "level", "valid_time", "uri",
        ]  # fmt: skip
        assert dataset["/messages/uri"].node.attributes["long_name"] == "GRIB file that the message is in"
        shown = {name: dataset[f"/messages/{name}"][...] for name in ("uri", "step", "valid_time", "offset")}
        ordered = table.reset_index(drop=True)
        assert [each.decode() for each in shown["uri"]] == ordered.uri.tolist()
        assert shown["offset"].tolist() == ordered.offset.tolist()
        assert shown["step"][0] == b"6 hours"
        assert shown["valid_time"][0] == b"2024-01-01T06:00"


@pytest.mark.slow
def test_what_is_stale_is_told_with_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    path = tmp_path / "gfs.parquet"
    table = chunk_index(tmp_path)
    table.to_parquet(path)
    # Most messages of files between the first and the last are asked by the check alone.
    between = tmp_path / f"gfs.{DATES[1]}.f006.grib2"
    intact = between.read_bytes()
    between.write_bytes((tmp_path / f"gfs.{DATES[0]}.f006.grib2").read_bytes())
    assert main(["check", str(path)]) == 2
    assert f"the message at byte 215 of {between} is of 2024-01-01T00:00" in capsys.readouterr().out
    between.write_bytes(intact)
    # The last file is of another day: what is checked there says so, and all of its kind are asked.
    last = tmp_path / f"gfs.{DATES[1]}.f012.grib2"
    last.write_bytes((tmp_path / f"gfs.{DATES[0]}.f012.grib2").read_bytes())
    with refbrowser.open(path) as dataset:
        told = [each.message for each in dataset.document.notes]
        expected = f"the message at byte 215 of {last} is of 2024-01-01T00:00, and the index says 2024-01-02"
        assert any(each.startswith(expected) for each in told)
        with pytest.raises(RefbrowserError, match="is of 2024-01-01"):
            dataset["/t"][1, 1, 0]
        assert np.isfinite(dataset["/t"][1, 0, 0]).all()
    last.unlink()
    (tmp_path / f"gfs.{DATES[0]}.f006.grib2").unlink()
    with refbrowser.open(path) as dataset:
        (told,) = dataset.document.notes
        assert "no such file" in told.message
        assert "uri" in told.advice


def test_rows_that_lead_to_no_message_are_told(tmp_path: Path) -> None:
    write(tmp_path)
    table = chunk_index(tmp_path).reset_index(drop=True)
    table.loc[0, "uri"] = None
    table.loc[1, ["offset", "inline_value"]] = -1, "base64:AAAA"
    table.loc[2, "length"] = ROOM + 1
    table = pandas.concat([table, table.iloc[5:6]])
    path = tmp_path / "gfs.parquet"
    table.to_parquet(path)
    with refbrowser.open(path, messages=True) as dataset:
        assert dataset["/messages/offset"].shape == (13,)
        assert [each.message for each in dataset.document.notes] == [
            "1 row left out, row 1 the first: it says of no file where the message is",
            "1 row left out, row 2 the first: its value stands in the table itself",
            "1 row left out, row 3 the first: it leads beyond the end of any file",
            "1 row left out, row 17 the first: the message is listed already",
        ]
    table.assign(uri="").to_parquet(path)
    with pytest.raises(RefbrowserError, match="17 rows left out, row 1 the first"):
        refbrowser.open(path)


def test_other_parquet_files_are_no_such_table(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pandas.DataFrame({"varname": ["t"], "uri": ["a"]}).to_parquet(path)
    with pytest.raises(NotReferencesError) as caught:
        refbrowser.open(path)
    assert caught.value.found.kind is FileKind.PARQUET
    pandas.DataFrame({"varname": ["t"], "uri": ["a"], "offset": ["x"], "length": [[1]]}).to_parquet(path)
    with pytest.raises(RefbrowserError, match="column 'length' does not hold what it should"):
        refbrowser.open(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(NotReferencesError):
        refbrowser.open(path)


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("offset", ["1", "2"], "it says of no file where the message is"),
        ("length", [datetime.date(2024, 1, 1)] * 2, "it says of no file where the message is"),
        ("valid_time", pyarrow.array([2**31 - 1] * 2, "int32").cast("date32"), "cannot be read"),
        ("number", [float("inf")] * 2, ""),
        ("name", pyarrow.array([b"x" * 9_000] * 2, pyarrow.binary(9_000)), ""),
        ("name", ["x" * 9_000] * 2, "a text has 9000 bytes, more than 8192"),
        ("idx", ["x" * 9_000] * 2, ""),
    ],
)
def test_hostile_columns(tmp_path: Path, name: str, values: Any, words: str) -> None:
    columns = {"varname": ["t", "t"], "uri": ["a", "a"], "offset": [0, 9], "length": [9, 9]}
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns | {name: values}), path)
    if not words:
        assert len(read_chunk_table(path, "a").entries) == 2
        return
    with pytest.raises(RefbrowserError, match=words) as caught:
        read_chunk_table(path, "a")
    assert caught.value.kind is ErrorKind.FORMAT


def test_a_text_of_many_rows_is_held_once(tmp_path: Path) -> None:
    count = 20_000
    columns = {"varname": ["t"] * count, "uri": ["a"] * count, "offset": range(count), "length": [1] * count}
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count), ["x" * 1_000_000])
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table({**columns, "name": texts}), path, store_schema=False)
    assert path.stat().st_size < 1_000_000
    before = pyarrow.default_memory_pool().max_memory()
    with pytest.raises(RefbrowserError, match="a text has 1000000 bytes"):
        read_chunk_table(path, "a")
    assert pyarrow.default_memory_pool().max_memory() - before < 100_000_000


@pytest.mark.parametrize(("name", "limit"), [("index_messages", 15), ("index_size", 10), ("index_cells", 50)])
def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int) -> None:
    write(tmp_path)
    path = tmp_path / "gfs.parquet"
    chunk_index(tmp_path).to_parquet(path)
    for module in ("opening", "chunk_table"):
        monkeypatch.setattr(f"refbrowser.formats.grib_index.{module}.LIMITS", Limits(**{name: limit}))
    with pytest.raises(RefbrowserError, match=name) as caught:
        refbrowser.open(path)
    assert caught.value.kind is ErrorKind.BUDGET


def test_files_are_read_as_one_run_of_bytes(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}").write_bytes(bytes([number]) * 5)
    joined = JoinedFiles([str(tmp_path / f"{number}") for number in range(20)], LocalBytes, {}, 0)
    assert joined.size == 20 * ROOM
    for number in (*range(20), 0):
        assert joined.read(number * ROOM + 3, 4) == bytes([number, number, 0, 0])
    assert (
        joined.named(f"the message at byte {2 * ROOM + 7} is") == f"the message at byte 7 of {tmp_path}/2 is"
    )
    one = JoinedFiles(["a"], LocalBytes, {}, 0)
    assert one.named("the message at byte 7") == "the message at byte 7"


def test_what_will_be_read_of_a_file_elsewhere_is_read_together() -> None:
    data = np.random.default_rng(1).bytes(200_000)
    offsets = [60_000, 120_000, 180_000]
    with HttpServer({"/a": data}) as server:
        url = server.url("/a")
        access = Access.for_document(url)
        with Fetcher() as fetcher:
            joined = JoinedFiles(
                [url], lambda place: RemoteBytes(place, access, fetcher, first=16), {0: offsets}, 64
            )
            assert joined.read(offsets[0], 64) == data[60_000:60_064]
            count = server.request_count
            for offset in offsets[1:]:
                assert joined.read(offset, 64) == data[offset : offset + 64]
            assert server.request_count == count
