"""What the names of an array tell about its numbers."""

from __future__ import annotations

import pytest

from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.colouring import Quantity, quantity_of


def quantity(path: str = "/field", **attributes: object) -> Quantity:
    return quantity_of(ArrayNode(path=path, shape=(2, 2), attributes=attributes))


@pytest.mark.parametrize(
    "names",
    [
        {"standard_name": "eastward_wind"},
        {"standard_name": "northward_sea_water_velocity"},
        {"long_name": "U component of wind"},
        {"long_name": "Sea surface temperature anomaly"},
        {"standard_name": "tendency_of_air_temperature"},
        {"standard_name": "atmosphere_relative_vorticity"},
        {"path": "/t2m_anomaly"},
        {"long_name": "sar: imaginary"},
    ],
)
def test_signed(names: dict[str, str]) -> None:
    assert quantity(**names) is Quantity.SIGNED


@pytest.mark.parametrize(
    "names",
    [
        {"standard_name": "wind_from_direction"},
        {"long_name": "Solar azimuth angle"},
        {"long_name": "sar: phase"},
    ],
)
def test_cyclic(names: dict[str, str]) -> None:
    assert quantity(**names) is Quantity.CYCLIC


@pytest.mark.parametrize(
    "names",
    [
        {},
        {"standard_name": "air_temperature", "long_name": "Temperature"},
        {"long_name": "Wind speed at 10 m"},
        {"long_name": "number of differences"},
        {"long_name": 7},
        {"long_name": "direct radiation"},
        {"long_name": "x" * 1_000_000 + " anomaly"},
    ],
)
def test_plain(names: dict[str, str]) -> None:
    assert quantity(**names) is Quantity.PLAIN
