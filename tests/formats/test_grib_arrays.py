"""Every message of a file is in an array or named, and its values are where eccodes' iterator has them."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus.compared_grib import compare
from grib_made import message, own_values

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import RefbrowserError

eccodes = pytest.importorskip("eccodes")

SCANNING = ("iScansNegatively", "jScansPositively", "jPointsAreConsecutive", "alternativeRowScanning")
SPHERE: dict[str, Any] = {"shapeOfTheEarth": 6, "numberOfDataPoints": 20}
START = {"latitudeOfFirstGridPointInDegrees": 40, "longitudeOfFirstGridPointInDegrees": 5}
METRES = {"Nx": 5, "Ny": 4, "DxInMetres": 100000, "DyInMetres": 100000}
CONE = {"LaDInDegrees": 50, "LoVInDegrees": 0, "Latin1InDegrees": 50, "Latin2InDegrees": 50}
#: Grids of 4 rows and 5 columns: number of the template, and what describes it.
GRIDS: dict[str, tuple[int, dict[str, Any]]] = {
    "polar_stereographic": (20, {**METRES, "LaDInDegrees": 60, **START}),
    "lambert": (30, {**METRES, **CONE, **START}),
    "mercator": (
        10,
        {
            **{"Ni": 5, "Nj": 4, "DiInMetres": 100000, "DjInMetres": 100000, "LaDInDegrees": 0},
            **{"latitudeOfFirstGridPointInDegrees": 10, "longitudeOfFirstGridPointInDegrees": 5},
            **{"latitudeOfLastGridPointInDegrees": 12.68, "longitudeOfLastGridPointInDegrees": 8.59},
        },
    ),
    "lambert_azimuthal_equal_area": (
        140,
        {
            **{"numberOfPointsAlongXAxis": 5, "numberOfPointsAlongYAxis": 4},
            **{"xDirectionGridLengthInMetres": 100000, "yDirectionGridLengthInMetres": 100000},
            **{"standardParallelInDegrees": 52, "centralLongitudeInDegrees": 10, **START},
        },
    ),
    "space_view": (
        90,
        {
            **{"Nx": 5, "Ny": 4, "dx": 10, "dy": 10, "XpInGridLengths": 2, "YpInGridLengths": 2},
            **{"latitudeOfSubSatellitePointInDegrees": 0, "longitudeOfSubSatellitePointInDegrees": 0},
            "NrInRadiusOfEarth": 6.6,
        },
    ),
    "albers": (31, {**METRES, **CONE, **START}),
}


def on_grid(kind: str, first: float, scanning: tuple[int, ...] = (0, 1, 0, 0)) -> bytes:
    """Return a message whose 20 values are counted up from the first."""
    template, keys = GRIDS[kind]
    flags = dict(zip(SCANNING, scanning, strict=True))
    keys = {"gridDefinitionTemplateNumber": template, **keys, **SPHERE, **flags, "bitsPerValue": 16}
    return message("polar_stereographic_sfc_grib2", first + np.arange(20.0), **keys)


def verdicts(path: Path, data: bytes) -> list[tuple[str, str]]:
    """Return what a comparison with eccodes finds, without what agrees."""
    path.write_bytes(data)
    with refbrowser.open(str(path)) as dataset:
        return [each for each in compare(path, dataset) if each[0] != "agree"]


def findings(path: Path) -> list[str]:
    with refbrowser.open(str(path)) as dataset:
        return [each.message for each in dataset.document.notes]


@pytest.mark.slow
def test_values_are_where_the_iterator_of_eccodes_has_them(tmp_path: Path) -> None:
    every, some = list(product((0, 1), repeat=4)), [(0, 0, 0, 0), (1, 1, 0, 0), (0, 0, 1, 0)]
    asked = {each: some for each in GRIDS if each != "albers"} | {"polar_stereographic": every}
    asked |= {each: [*some, (1, 0, 0, 1), (0, 1, 1, 1)] for each in ("lambert", "mercator")}
    grids = [(kind, scanning) for kind, each in asked.items() for scanning in each]
    made = [on_grid(kind, 20 * at, scanning) for at, (kind, scanning) in enumerate(grids)]
    path = tmp_path / "a.grib2"
    assert verdicts(path, b"".join(made)) == []
    assert findings(path) == []


def test_rows_of_regular_grids_that_alternate_are_turned(tmp_path: Path) -> None:
    values = np.arange(496.0).reshape(31, 16)
    alternating = values.copy()
    alternating[1::2] = alternating[1::2, ::-1]
    path = tmp_path / "a.grib2"
    for stored, keys in (
        (alternating, {"alternativeRowScanning": 1}),
        (alternating.T, {"alternativeRowScanning": 1, "jPointsAreConsecutive": 1}),
    ):
        data = message("regular_ll_sfc_grib2", stored.reshape(-1), bitsPerValue=16, **keys)
        path.write_bytes(data)
        with refbrowser.open(str(path)) as dataset:
            assert np.array_equal(dataset["/t"][...], values)
            assert dataset["/t"].node.dimensions == ("latitude", "longitude")
            assert "runs the other way" in dataset["/t"].node.not_referencable


@pytest.mark.parametrize(
    "sample",
    [
        "reduced_gg_pl_32_grib1", "reduced_gg_ml_grib1", "regular_gg_ml_grib1", "regular_gg_pl_grib1",
        "reduced_rotated_gg_pl_32_grib1", "rotated_gg_ml_grib1", "rotated_ll_sfc_grib2",
        "reduced_gg_ml_grib2", "sh_ml_grib1",
    ],
)  # fmt: skip
def test_samples_are_read_as_eccodes_does(sample: str, tmp_path: Path) -> None:
    handle = eccodes.codes_grib_new_from_samples(sample)
    count = eccodes.codes_get_size(handle, "values")
    eccodes.codes_release(handle)
    values = np.arange(float(count))
    missing = values.copy()
    missing[::7] = 9999
    made = [message(sample, values, dataDate=20200101, bitsPerValue=24)]
    if not sample.startswith("sh"):
        made.append(message(sample, missing, bitsPerValue=24, bitmapPresent=1, missingValue=9999))
    path = tmp_path / "a.grib"
    assert verdicts(path, b"".join(made)) == []
    assert findings(path) == []


@pytest.mark.slow
def test_fields_of_one_name_time_and_level_are_told_apart(tmp_path: Path) -> None:
    alike = {
        # Percentiles are a dimension.
        **{f"p{each}": {"productDefinitionTemplateNumber": 6, "percentileValue": each} for each in (10, 90)},
        **{
            f"above {each}": {
                **{"productDefinitionTemplateNumber": 5, "probabilityType": 1},
                **{"scaleFactorOfUpperLimit": 0, "scaledValueOfUpperLimit": each},
            }
            for each in (1, 5)
        },
        "mean of members": {"productDefinitionTemplateNumber": 2, "derivedForecast": 0},
        "spread": {"productDefinitionTemplateNumber": 2, "derivedForecast": 4},
        **{
            f"spatial {each}": {"productDefinitionTemplateNumber": 15, "statisticalProcess": each}
            for each in (0, 2)
        },
        # Nothing has a name for these.
        **{
            f"var {each}": {"discipline": 0, "parameterCategory": 191, "parameterNumber": each}
            for each in (192, 193)
        },
        **{f"process {each}": {"generatingProcessIdentifier": each} for each in (3, 4)},
    }
    made = [
        message("regular_ll_pl_grib2", number + np.arange(496.0), bitsPerValue=16, **keys)
        for number, keys in enumerate(alike.values())
    ]
    rain = {"shortName": "tp", "stepType": "accum", "bitsPerValue": 16}
    made += [
        message("regular_ll_sfc_grib2", 100 + at + np.arange(496.0), **rain, stepRange=each)
        for at, each in enumerate(("0-6", "6-12", "0-12", "3-6"))
    ]
    made += [
        message(
            "regular_ll_pl_grib1", 200 + each + np.arange(496.0), indicatorOfParameter=each, table2Version=3
        )
        for each in (250, 251)
    ]
    path = tmp_path / "a.grib"
    assert verdicts(path, b"".join(made)) == []
    assert findings(path) == []
    with refbrowser.open(str(path)) as dataset:
        names = {each.rpartition("/")[2] for each in dataset.arrays}
        assert {"tp_interval6", "tp_interval12", "tp_interval3"} <= names
        assert {"var_0_191_192", "var_0_191_193", "var_3_250", "var_3_251"} <= names
        assert {"t_generatingProcessIdentifier3", "t_generatingProcessIdentifier4"} <= names
        assert {"t_avg", "t_max", "t_derivedForecast4"} <= names
        (deciles,) = [each for each in dataset.arrays if each.endswith("/percentile")]
        assert dataset[deciles][...].tolist() == [10, 90]
        (steps,) = [each for each in dataset.arrays.values() if each.node.name == "tp_interval6"]
        assert steps.shape == (2, 31, 16)


def test_fractions_of_levels_are_levels(tmp_path: Path) -> None:
    height = {"typeOfFirstFixedSurface": 103, "scaleFactorOfFirstFixedSurface": 1}
    made = [
        message(
            "regular_ll_sfc_grib2", each + np.arange(496.0), **height, scaledValueOfFirstFixedSurface=each
        )
        for each in (1, 5, 20)
    ]
    path = tmp_path / "a.grib"
    assert verdicts(path, b"".join(made)) == []
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/t"].shape == (3, 31, 16)
        assert dataset["/heightAboveGround"][...].tolist() == [0.1, 0.5, 2.0]


def test_what_is_there_twice_or_of_another_edition_is_named(tmp_path: Path) -> None:
    first, second = (message("regular_ll_sfc_grib2", each + np.arange(496.0)) for each in (0, 1))
    third = first[:7] + b"\3" + first[8:]
    short = first[:8] + (19).to_bytes(8, "big") + first[16:20]
    path = tmp_path / "a.grib"
    path.write_bytes(first + second + third + short)
    told = findings(path)
    size = len(first)
    assert told[-1].startswith(f"the message at byte 0 is not shown: that at byte {size} is of the same")
    assert f"the message at byte {2 * size} is of edition 3, which is not read" in told
    assert f"the message at byte {3 * size} claims 19 bytes, fewer than any message has" in told
    with refbrowser.open(str(path)) as dataset:
        assert np.array_equal(dataset["/t"][...].reshape(-1), own_values(second))
    path.write_bytes(first * 200)
    told = findings(path)
    assert len(told) == 100
    assert told[-1] == "100 more of its messages are lost or not shown"


def test_values_without_places_are_shown_without(tmp_path: Path) -> None:
    wrong = message("regular_ll_sfc_grib2", np.arange(496.0), jScansPositively=1)
    path = tmp_path / "a.grib2"
    path.write_bytes(on_grid("albers", 0) + wrong)
    told = findings(path)
    assert len(told) == 2
    assert told[0].startswith("the latitudes and longitudes of its grid (albers) cannot be computed: ")
    assert told[1].startswith("the latitudes and longitudes of its grid (regular_ll) cannot be computed: ")
    with refbrowser.open(str(path)) as dataset:
        assert list(dataset.arrays) == ["/grid_1/t", "/grid_2/t"]
        assert dataset["/grid_1/t"][...].tolist() == np.arange(20.0).reshape(4, 5).tolist()
        assert dataset["/grid_2/t"].shape == (31, 16)


def test_references_to_grids_read_as_the_file_does(tmp_path: Path) -> None:
    made = [on_grid("lambert", 0), on_grid("polar_stereographic", 20, (0, 0, 0, 0))]
    made += [on_grid("mercator", 40, (0, 1, 0, 1)), message("reduced_gg_pl_32_grib1", np.arange(6114.0))]
    path, target = tmp_path / "a.grib", tmp_path / "a.json"
    path.write_bytes(b"".join(made))
    assert main(["make", str(path), "-o", str(target)]) == 0
    with refbrowser.open(str(path)) as file, refbrowser.open(str(target), allow=[str(tmp_path)]) as dataset:
        # Small arrays that the codec does not read are in the document.
        assert set(dataset.arrays) == set(file.arrays)
        for name, array in file.arrays.items():
            assert np.array_equal(array[...], dataset[name][...]), name


def test_a_grid_told_by_its_number_has_as_many_points_as_values(tmp_path: Path) -> None:
    data = bytearray(message("regular_ll_pl_grib1", np.arange(496.0)))
    section = 8 + int.from_bytes(data[8:11], "big")
    size = int.from_bytes(data[section : section + 3], "big")
    data[15] &= ~0x80
    data[14] = 24
    del data[section : section + size]
    data[4:7] = len(data).to_bytes(3, "big")
    path = tmp_path / "a.grib"
    path.write_bytes(data)
    with refbrowser.open(str(path)) as dataset:
        (name,) = [each for each in dataset.arrays if each not in ("/latitude", "/longitude")]
        try:
            theirs = own_values(bytes(data))
        except eccodes.CodesInternalError:
            with pytest.raises(RefbrowserError):
                dataset[name][...]
        else:
            assert np.array_equal(dataset[name][...].reshape(-1), theirs)
