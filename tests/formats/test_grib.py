"""Files of GRIB opened directly: what is shown and read is what eccodes gives."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate, product
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
import zarr
from grib_made import message, own_values
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.library import grib, process
from refbrowser.io.fetching.byte_sources import RemoteBytes

eccodes = pytest.importorskip("eccodes")

HEADING = b"\r\r\nHTXX01 EGRR 010000\r\r\n"


def make_all() -> dict[tuple[int, int], bytes]:
    """Return messages of one array, by time and level; one is not there."""
    made = {}
    for time in (0, 600, 1200):
        for level in (850, 500):
            values = np.random.default_rng(time + level).random(496)
            values[::7] = 9999
            made[time, level] = message(
                "regular_ll_pl_grib2", values, dataTime=time, level=level, bitmapPresent=1, missingValue=9999
            )
    del made[600, 500]
    return made


@pytest.fixture(scope="module")
def messages() -> dict[tuple[int, int], bytes]:
    return make_all()


def notes(dataset: refbrowser.Dataset) -> list[str]:
    return [each.message for each in dataset.document.notes]


@pytest.mark.slow
def test_messages_are_put_together_to_arrays(
    messages: dict[tuple[int, int], bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.grib"
    wind = message("regular_ll_sfc_grib2", np.arange(496.0), shortName="10u")
    path.write_bytes(HEADING + HEADING.join([*messages.values(), wind]))
    with refbrowser.open(str(path)) as dataset:
        assert dataset.format == "grib"
        assert not notes(dataset)
        array = dataset["/t"]
        assert array.node.dimensions == ("time", "isobaricInhPa", "latitude", "longitude")
        assert dataset["/isobaricInhPa"][...].tolist() == [500, 850]
        assert np.diff(dataset["/time"][...]).tolist() == [6 * 3600] * 2
        values = array[...]
        for row, time in enumerate((0, 600, 1200)):
            for column, level in enumerate((500, 850)):
                data = messages.get((time, level))
                theirs = np.full(496, np.nan) if data is None else own_values(data)
                assert np.array_equal(values[row, column].reshape(-1), theirs, equal_nan=True)
        assert np.array_equal(array[2, 0, 3:9:2, ::-1], values[2, 0, 3:9:2, ::-1], equal_nan=True)
        assert dataset["/u10"].shape == (31, 16)
        assert np.array_equal(dataset["/u10"][...].reshape(-1), own_values(wind))
        assert dataset["/latitude"][...].tolist() == list(range(60, -2, -2))
        assert not array.node.not_referencable
        assert array.node.attributes["units"] == "K"
        assert array.node.attributes["step"] == 0
        target = tmp_path / "a.zarr"
        # What nothing encodes is stored in another way.
        refbrowser.export(dataset, str(target), format="zarr-v3")
        with refbrowser.open(str(target)) as again:
            assert np.array_equal(again["/t"][...], values, equal_nan=True)
            assert "grib" not in [each.name for each in again["/t"].node.codecs]
    assert main(["cdl", str(path)]) == 0
    assert "double t(time, isobaricInhPa, latitude, longitude) ;" in capsys.readouterr().out
    files = {"/a.grib": path.read_bytes(), "/any": path.read_bytes()}
    with HttpServer(files) as server:
        for name in files:
            with refbrowser.open(server.url(name)) as dataset:
                assert np.array_equal(dataset["/t"][...], values, equal_nan=True)


@pytest.mark.slow
def test_references_lead_to_the_messages(
    messages: dict[tuple[int, int], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kerchunk = pytest.importorskip("kerchunk.codecs")
    # fsspec reads relative names in the folder that it runs in.
    monkeypatch.chdir(tmp_path)
    path, target = tmp_path / "a.grib2", tmp_path / "a.json"
    columns = message("regular_ll_sfc_grib2", np.arange(496.0), jPointsAreConsecutive=1)
    others = [message("reduced_gg_sfc_grib2"), message("regular_ll_sfc_grib1"), columns]
    path.write_bytes(b"".join([*messages.values(), *others]))
    # Some chunks of each are compared with what the library gives before there is a document.
    (made,) = refbrowser.make(path, target).made
    assert made.unread == 0
    mapper = fsspec.filesystem("reference", fo=str(target)).get_mapper("")
    theirs = zarr.open_group(mapper, mode="r", zarr_format=2)
    with refbrowser.open(str(path)) as file, refbrowser.open(str(target), allow=[str(tmp_path)]) as dataset:
        assert made.compared >= len(file.arrays)
        referenced = 0
        for name, array in file.arrays.items():
            assert not array.node.not_referencable
            values = dataset[name][...]
            assert np.array_equal(values, array[...], equal_nan=True), name
            assert np.array_equal(values, theirs[name.strip("/")][...], equal_nan=True), name
            referenced += array.node.codecs != ()
        # Those of no lines are computed from a message.
        assert referenced == 4 + 2
    codec = kerchunk.GRIBCodec("t", "float64")
    assert all(
        np.array_equal(codec.decode(each), own_values(each), equal_nan=True) for each in messages.values()
    )
    monkeypatch.setattr("refbrowser.codecs.makers.find_spec", lambda name: None)
    with refbrowser.open(str(target), allow=[str(tmp_path)]) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            dataset["/grid_1/t"][0, 0]
        assert caught.value.kind is ErrorKind.META
        assert "refbrowser[grib]" in caught.value.advice


def test_references_that_kerchunk_makes_are_read(
    messages: dict[tuple[int, int], bytes], tmp_path: Path
) -> None:
    data = messages[0, 850]
    (tmp_path / "a.grib2").write_bytes(data)

    def metadata(shape: list[int], stored: str, **codec: str) -> str:
        member = {"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": stored, "order": "C"}
        fill = 3.4028234663852886e38
        filters = [{"id": "grib", **codec}]
        return json.dumps(member | {"compressor": None, "fill_value": fill, "filters": filters})

    place = ["a.grib2", 0, len(data)]
    entries = {
        "t": metadata([1, 31, 16], "<f8", var="t", dtype="float64"),
        "short": metadata([1, 31, 16], "<f4", var="t"),
        "latitude": metadata([1, 31, 16], "<f8", var="latitude"),
        # The message has more points, fewer, and none of these can be.
        "more": metadata([1, 30, 16], "<f8", var="t", dtype="float64"),
        "fewer": metadata([1, 32, 16], "<f8", var="t", dtype="float64"),
        "integers": metadata([1, 31, 16], "<i4", var="t", dtype="int32"),
        "nothing": metadata([1, 31, 16], "<i4", dtype="int32"),
    }
    refs: dict[str, Any] = {f"{name}/.zarray": text for name, text in entries.items()}
    refs |= {f"{name}/0.0.0": place for name in entries} | {".zgroup": '{"zarr_format": 2}'}
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "refs": refs}))
    with refbrowser.open(str(tmp_path / "a.json")) as dataset:
        values = own_values(data)
        assert np.array_equal(dataset["/t"][...].reshape(-1), values, equal_nan=True)
        assert np.array_equal(dataset["/short"][...].reshape(-1), values.astype("<f4"), equal_nan=True)
        assert dataset["/latitude"][0, :, 0].tolist() == list(range(60, -2, -2))
        for name, kind in (
            ("more", "DECODE"),
            ("fewer", "DECODE"),
            ("integers", "META"),
            ("nothing", "META"),
        ):
            with pytest.raises(RefbrowserError) as caught:
                dataset[f"/{name}"][...]
            assert caught.value.kind is ErrorKind[kind], name


def test_grids_are_groups_and_have_their_own_coordinates(tmp_path: Path) -> None:
    path = tmp_path / "bulletin"
    reduced, old = message("reduced_gg_sfc_grib2"), message("regular_ll_sfc_grib1")
    columns = message("regular_ll_sfc_grib2", np.arange(496.0), jPointsAreConsecutive=1)
    path.write_bytes(reduced + old + columns)
    with refbrowser.open(str(path)) as dataset:
        assert not notes(dataset)
        assert set(dataset.hierarchy.root.groups) == {"grid_1", "grid_2", "grid_3"}
        found = {each.rpartition("/")[0]: each for each in dataset.arrays if "itude" not in each}
        assert np.array_equal(dataset[found["/grid_1"]][...], own_values(reduced))
        assert dataset["/grid_1/latitude"].shape == dataset[found["/grid_1"]].shape == (6114,)
        assert dataset["/grid_1/latitude"][0] > 87
        assert np.array_equal(dataset[found["/grid_2"]][...].reshape(-1), own_values(old))
        assert np.array_equal(dataset[found["/grid_3"]][...], np.arange(496.0).reshape(16, 31).T)
        assert dataset["/grid_3/longitude"][...].tolist() == list(range(0, 32, 2))


def test_coefficients_have_no_places(tmp_path: Path) -> None:
    path = tmp_path / "a.grib"
    path.write_bytes(data := message("sh_pl_grib2"))
    with refbrowser.open(str(path)) as dataset:
        assert list(dataset.arrays) == ["/t"]
        assert np.array_equal(dataset["/t"][...], own_values(data))


def sections(data: bytes) -> dict[int, bytes]:
    found, at = {}, 16
    while at < len(data) - 4:
        size = int.from_bytes(data[at : at + 4], "big")
        found[data[at + 4]] = data[at : at + size]
        at += size
    return found


def test_fields_of_one_message_are_told_apart(messages: dict[tuple[int, int], bytes], tmp_path: Path) -> None:
    first, second = messages[0, 500], messages[0, 850]
    one, two = sections(first), sections(second)
    # The second field has the bits of the first.
    bits = (6).to_bytes(4, "big") + b"\x06\xfe"
    body = b"".join([*one.values(), two[4], two[5], bits, two[7]])
    path = tmp_path / "a.grb2"
    path.write_bytes(first[:8] + (len(body) + 20).to_bytes(8, "big") + body + b"7777")
    with refbrowser.open(str(path)) as dataset:
        assert not notes(dataset)
        assert dataset["/isobaricInhPa"][...].tolist() == [500, 850]
        for row, data in enumerate((first, second)):
            mine = dataset["/t"][row].reshape(-1)
            assert np.array_equal(mine, own_values(data), equal_nan=True)
        # The codec reads the first field of a message.
        assert "share a message with others" in dataset["/t"].node.not_referencable


@pytest.mark.slow
def test_each_message_is_where_eccodes_says(tmp_path: Path) -> None:
    made: dict[tuple[Any, ...], bytes] = {}
    for sample in ("regular_ll_pl_grib2", "regular_ll_pl_grib1"):
        for name in ("t", "u"):
            for date, level, step in product((20240131, 20240301), (850, 500), (0, 36)):
                values = np.random.default_rng(len(made)).random(496)
                keys = {"shortName": name, "dataDate": date, "level": level, "step": step}
                made[sample, name, date, level, step] = message(sample, values, **keys)
    rain = {"shortName": "tp", "typeOfLevel": "surface", "stepType": "accum"}
    for date, step in product((20240131, 20240301), (6, 12)):
        values = np.full(496, float(date + step))
        made["rain", date, step] = message(
            "regular_ll_sfc_grib2", values, **rain, dataDate=date, stepRange=f"0-{step}"
        )
    path = tmp_path / "a.grib"
    path.write_bytes(b"".join(made.values()))
    with refbrowser.open(str(path)) as dataset:
        assert not notes(dataset)
        found = 0
        for data in made.values():
            handle = eccodes.codes_new_from_message(data)

            def told(key: str, handle: Any = handle) -> Any:
                return eccodes.codes_get(handle, key)

            date = f"{told('validityDate')}{told('validityTime'):04d}"
            valid = datetime.strptime(date, "%Y%m%d%H%M").replace(tzinfo=UTC).timestamp()
            for name, array in dataset.arrays.items():
                said = array.node.attributes
                if said.get("edition") != told("edition") or said["paramId"] != told("paramId"):
                    continue
                assert said["long_name"] == told("name"), name
                assert said["units"] == told("units"), name
                group = name.rpartition("/")[0]
                at: list[Any] = []
                for dimension in array.node.dimensions[:-2]:
                    values = dataset[f"{group}/{dimension}"][...]
                    wanted = told("level")
                    if dimension.startswith("step"):
                        wanted = told("endStep")
                    elif dimension.startswith("time"):
                        wanted = valid - 3600 * told("endStep")
                    at.append(values.tolist().index(wanted))
                if found % 4 == 0:
                    assert np.array_equal(array[tuple(at)].reshape(-1), own_values(data)), (name, at)
                found += 1
            eccodes.codes_release(handle)
        assert found == len(made)


def test_only_heads_are_read_of_a_remote_file(tmp_path: Path) -> None:
    values = np.random.default_rng(0).random(400 * 500)
    values[::5] = 9999
    keys = {"Ni": 500, "Nj": 400, "bitsPerValue": 24, "missingValue": 9999}
    made = [
        message("regular_ll_pl_grib2", values, **keys, bitmapPresent=1, level=500),
        message("regular_ll_pl_grib2", values, **keys, level=850),
        message("regular_ll_pl_grib1", values, **keys, bitmapPresent=1, level=500),
    ]
    # What is looked at to know what it is ends in the second one.
    data = b"".join([*made, *made])
    with HttpServer({"/a.grib": data}) as server:
        with refbrowser.open(server.url("/a.grib")) as dataset:
            # Of each the head, and that of its values behind the bits of those that are there.
            assert server.request_count <= 1 + 2 * len(2 * made)
            sent = sum(each.range[1] - each.range[0] + 1 for each in server.requests)
            assert sent < (1 << 20) + 64 * 1024
            server.clear()
            first = next(name for name in dataset.arrays if dataset[name].shape[-2:] == (400, 500))
            read = dataset[first][-1, 5, 5]
            assert sum(each.range[1] - each.range[0] + 1 for each in server.requests) == len(made[1])
        path = tmp_path / "a.grib"
        path.write_bytes(data)
        with refbrowser.open(str(path)) as dataset:
            assert dataset[first][-1, 5, 5] == read


def test_an_index_beside_a_remote_file_is_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grib, "_WORTH", 0)
    values = np.random.default_rng(0).random(300 * 300)
    keys = {"Ni": 300, "Nj": 300, "bitsPerValue": 24}
    made = [message("regular_ll_pl_grib2", values, **keys, level=level) for level in range(1, 11)]
    data = b"".join(made)
    starts = [0, *accumulate(map(len, made))][:-1]
    lines = "".join(f"{at + 1}:{start}:d=2024010100:TMP:{at} mb:anl:\n" for at, start in enumerate(starts))
    objects = "".join(f'{{"levtype": "pl", "_offset": {start}, "_length": 1}}\n' for start in starts)
    indexes = {
        "": {},
        "wgrib2": {".grib.idx": lines},
        "ECMWF": {".index": objects},
        "wrong": {".grib.idx": "1:7:a\n2:999999999999999:b\n3:-1:c\nno line\n"},
    }
    files = {f"/{name}.grib": data for name in indexes}
    for name, beside in indexes.items():
        files |= {f"/{name}{suffix}": text.encode() for suffix, text in beside.items()}
    fetch = RemoteBytes._fetch
    alone: list[str] = []

    def fetched_alone(source: RemoteBytes, *asked: Any) -> memoryview:
        alone.append(source.url)
        return fetch(source, *asked)

    monkeypatch.setattr(RemoteBytes, "_fetch", fetched_alone)
    counts = {}
    with HttpServer(files) as server:
        for name in indexes:
            server.clear()
            alone.clear()
            with refbrowser.open(server.url(f"/{name}.grib")) as dataset:
                assert dataset["/t"].shape == (10, 300, 300)
            own = [each for each in server.requests if each.path.endswith(".grib")]
            counts[name] = sum(url.endswith(".grib") for url in alone)
            assert len(own) <= 1 + len(made) - 3 + 2, name
            server.clear()
            # What was found is known in other runs too.
            with refbrowser.open(server.url(f"/{name}.grib")) as dataset:
                assert dataset["/t"].shape == (10, 300, 300)
            assert server.request_count == 1, name
    # The first bytes, by which it is known what it is, and all else together.
    assert counts["wgrib2"] == counts["ECMWF"] == 1
    assert min(counts[""], counts["wrong"]) > len(made) / 2


def test_messages_of_edition_1_are_found_by_their_lengths(tmp_path: Path) -> None:
    values = np.arange(496.0)
    values[::9] = 9999
    plain = message("regular_ll_pl_grib1", values, bitmapPresent=1, missingValue=9999, level=500)
    other = message("regular_ll_pl_grib1", np.arange(496.0), level=850)
    # As ECMWF codes those that are too long: in units of 120 bytes, less what the data says.
    data = 8 + int.from_bytes(other[8:11], "big")
    data += int.from_bytes(other[data : data + 3], "big")
    units = -(-len(other) // 120)
    long = bytearray(other)
    long[4:7] = (0x800000 | units).to_bytes(3, "big")
    long[data : data + 3] = (120 * units - len(other) + 4).to_bytes(3, "big")
    assert np.array_equal(own_values(bytes(long)), own_values(other))
    path = tmp_path / "a.grib"
    path.write_bytes(bytes(long) + plain)
    with refbrowser.open(str(path)) as dataset:
        assert not notes(dataset)
        assert dataset["/isobaricInhPa"][...].tolist() == [500, 850]
        assert np.array_equal(dataset["/t2m"][0].reshape(-1), own_values(plain), equal_nan=True)
        assert np.array_equal(dataset["/t2m"][1].reshape(-1), own_values(other))
        assert dataset["/t2m"].node.attributes["packingType"] == "grid_simple"
    path.write_bytes(plain + bytes(long)[:-50])
    with refbrowser.open(str(path)) as dataset:
        assert any(f"{len(other) - 50} of its {len(other)} bytes" in each for each in notes(dataset))


CRASHES = """
import os
from importlib.util import module_from_spec, spec_from_file_location

spec = spec_from_file_location("reader", {path!r})
library = module_from_spec(spec)
spec.loader.exec_module(library)
make = library.eccodes.codes_new_from_message


def crash(data):
    handle = make(data)
    if library.eccodes.codes_get(handle, "level") in {levels}:
        os.abort()
    return handle


library.eccodes.codes_new_from_message = crash
Reader = library.Reader
"""


def test_a_message_by_which_the_library_dies_costs_no_other(
    messages: dict[tuple[int, int], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = [message("regular_ll_pl_grib2", np.arange(496.0), level=level) for level in (1, 2)]
    path, script = tmp_path / "a.grib", tmp_path / "dies.py"
    path.write_bytes(bad[0] + b"".join(messages.values()) + bad[1])
    text = CRASHES.format(path=str(process.GRIB), levels=(1, 2))
    script.write_text(text)
    monkeypatch.setattr(grib, "LIBRARY", replace(grib.LIBRARY, script=script))
    with refbrowser.open(str(path)) as dataset:
        assert len(notes(dataset)) == 2
        assert "the message at byte 0 cannot be read: eccodes crashes on it" in notes(dataset)[0]
        values = dataset["/t"][0, 0].reshape(-1)
        assert np.array_equal(values, own_values(messages[0, 500]), equal_nan=True)
        # There is no other message that tells of this time and level.
        with pytest.raises(RefbrowserError, match="one was lost: the message at byte 0"):
            dataset["/t"][1, 0]
    monkeypatch.setattr(grib, "_TRIES", 1)
    with pytest.raises(RefbrowserError, match="has died"):
        refbrowser.open(str(path))


def test_cut_and_damaged_files_name_what_is_lost(
    messages: dict[tuple[int, int], bytes], tmp_path: Path
) -> None:
    data = b"".join(messages.values())
    size = len(next(iter(messages.values())))
    path = tmp_path / "a.grib2"
    path.write_bytes(data[:-100])
    with refbrowser.open(str(path)) as dataset:
        assert any(f"the message at byte {4 * size} was cut" in each for each in notes(dataset))
        assert np.isfinite(dataset["/t"][0, 0]).any()
        # It still says what it was: what was never there is missing, and that is lost.
        assert np.isnan(dataset["/t"][1, 0]).all()
        with pytest.raises(RefbrowserError, match=f"the message at byte {4 * size} was cut"):
            dataset["/t"][2, 0]
    # Where nothing says what it was, what no message gives may be what was lost.
    path.write_bytes(data[: 4 * size + 30])
    with refbrowser.open(str(path)) as dataset:
        for time in (1, 2):
            with pytest.raises(RefbrowserError, match="one was lost: the message at byte"):
                dataset["/t"][time, 0]
    path.write_bytes(data)
    with refbrowser.open(str(path)) as dataset:
        assert np.isnan(dataset["/t"][1, 0]).all()
        assert np.isfinite(dataset["/t"][2, 0]).any()
    for at, value, words in (
        (size + 8, b"\xff" * 8, "was cut"),
        (size + 8, (60).to_bytes(8, "big"), "not end where its length says"),
        (size + 16, b"\0" * 4, "is outside it"),
        (size + 16, b"\xff" * 4, "is outside it"),
    ):
        damaged = bytearray(data)
        damaged[at : at + len(value)] = value
        path.write_bytes(damaged)
        with refbrowser.open(str(path)) as dataset:
            assert any(words in each for each in notes(dataset)), words
            assert dataset["/t"].shape[-2:] == (31, 16)
    path.write_bytes(data + data[:size])
    with refbrowser.open(str(path)) as dataset:
        (told,) = notes(dataset)
        assert told.startswith(f"the message at byte 0 is not shown: that at byte {len(data)} is of the same")
    read = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        damaged = bytearray(data)
        for at in rng.integers(16, len(data), int(rng.choice([3, 20]))).tolist():
            damaged[at] = int(rng.choice([0, 255, damaged[at] ^ 1, rng.integers(256)]))
        path.write_bytes(damaged)
        try:
            with refbrowser.open(str(path)) as dataset:
                for array in dataset.arrays.values():
                    try:
                        if np.prod(array.shape, dtype=float) < 1e6:
                            array[...]
                            read += 1
                    except RefbrowserError as error:
                        kinds = (ErrorKind.FORMAT, ErrorKind.DECODE, ErrorKind.BUDGET)
                        assert error.kind in kinds, error  # noqa: PT017
        except RefbrowserError as error:
            assert error.kind in (ErrorKind.FORMAT, ErrorKind.BUDGET), error  # noqa: PT017
    assert read > 8
