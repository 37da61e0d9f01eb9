"""Messages of GRIB behind the codec of gribberish: values, axes, and both turned as it turns them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import RefbrowserError

pytest.importorskip("eccodes")

from grib_made import message

ROWS, COLUMNS = 5, 8
VALUES = np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS)
Make = Callable[..., CodecPipeline]


def regular(*, first: float = -40, south_up: bool = True, step: float = 45) -> bytes:
    """A message of rows from 40 degrees on one side of the equator to the other."""
    return message(
        "regular_ll_sfc_grib2", VALUES.ravel(),
        Ni=COLUMNS, Nj=ROWS, jScansPositively=int(south_up), iDirectionIncrementInDegrees=step,
        jDirectionIncrementInDegrees=20, latitudeOfFirstGridPointInDegrees=first,
        latitudeOfLastGridPointInDegrees=-first, longitudeOfFirstGridPointInDegrees=0,
        longitudeOfLastGridPointInDegrees=step * (COLUMNS - 1),
    )  # fmt: skip


def decoded(pipeline: Make, data: bytes, shape: tuple[int, ...], **settings: Any) -> Any:
    codec = {"name": "gribberish", "configuration": settings}
    return pipeline("f8", [codec], shape, version="zarr-v3", fill_value=np.nan).decode(data)


@pytest.mark.slow
def test_values_and_axes_are_those_of_the_message(pipeline: Make) -> None:
    data = regular()
    assert np.array_equal(decoded(pipeline, data, VALUES.shape, var="t2m"), VALUES)
    assert np.allclose(decoded(pipeline, data, (ROWS,), var="latitude"), [-40, -20, 0, 20, 40])
    assert np.allclose(decoded(pipeline, data, (COLUMNS,), var="longitude"), np.arange(8) * 45)
    single = pipeline("f4", [{"name": "gribberish"}], VALUES.shape, version="zarr-v3").decode(data)
    assert single.dtype == "f4"
    assert np.array_equal(single, VALUES)


@pytest.mark.slow
def test_north_is_up_where_it_is_asked_for(pipeline: Make) -> None:
    data = regular()
    assert np.array_equal(decoded(pipeline, data, VALUES.shape, var="t2m", north_up=True), VALUES[::-1])
    assert np.allclose(decoded(pipeline, data, (ROWS,), var="latitude", north_up=True), [40, 20, 0, -20, -40])
    # It is already.
    north = regular(first=40, south_up=False)
    assert np.array_equal(decoded(pipeline, north, VALUES.shape, var="t2m", north_up=True), VALUES)
    assert np.allclose(
        decoded(pipeline, north, (ROWS,), var="latitude", north_up=True), [40, 20, 0, -20, -40]
    )


@pytest.mark.slow
def test_longitudes_go_from_the_date_line_where_it_is_asked_for(pipeline: Make) -> None:
    data, asked = regular(), {"adjust_longitude_range": True}
    turned = decoded(pipeline, data, VALUES.shape, var="t2m", **asked)
    assert np.array_equal(turned, np.roll(VALUES, -4, axis=1))
    longitudes = decoded(pipeline, data, (COLUMNS,), var="longitude", **asked)
    assert np.allclose(longitudes, [-180, -135, -90, -45, 0, 45, 90, 135])
    # A part of the earth stays as it is.
    part = regular(step=20)
    assert np.array_equal(decoded(pipeline, part, VALUES.shape, var="t2m", **asked), VALUES)
    assert np.allclose(decoded(pipeline, part, (COLUMNS,), var="longitude", **asked), np.arange(8) * 20)


@pytest.mark.slow
def test_places_of_a_projected_grid_are_fields(pipeline: Make) -> None:
    data = message(
        "regular_ll_sfc_grib2", np.zeros(12),
        gridType="lambert", Nx=4, Ny=3, DxInMetres=100000, DyInMetres=100000, LaDInDegrees=45,
        LoVInDegrees=10, Latin1InDegrees=45, Latin2InDegrees=45, latitudeOfFirstGridPointInDegrees=40,
        numberOfDataPoints=12, longitudeOfFirstGridPointInDegrees=350, jScansPositively=1, shapeOfTheEarth=6,
    )  # fmt: skip
    latitudes = decoded(pipeline, data, (3, 4), var="latitude")
    longitudes = decoded(pipeline, data, (3, 4), var="longitude")
    assert np.allclose([latitudes[0, 0], longitudes[0, 0]], [40, -10])
    assert (np.diff(latitudes, axis=0) > 0).all()
    assert ((longitudes >= -180) & (longitudes < 180)).all()
    for name, values in (("latitude", latitudes), ("longitude", longitudes)):
        assert np.array_equal(decoded(pipeline, data, (3, 4), var=name, north_up=True), values[::-1])


@pytest.mark.slow
def test_another_shape_or_a_cut_message_is_an_error(pipeline: Make) -> None:
    data = regular()
    for shape in ((ROWS, COLUMNS - 1), (ROWS, COLUMNS + 1)):
        with pytest.raises(RefbrowserError, match="gribberish"):
            decoded(pipeline, data, shape, var="t2m")
    with pytest.raises(RefbrowserError, match="gribberish"):
        decoded(pipeline, data[:-20], VALUES.shape, var="t2m")
    with pytest.raises(RefbrowserError, match="floats only"):
        pipeline("i4", [{"name": "gribberish"}], VALUES.shape, version="zarr-v3")
