"""A forecast that production has as a virtual store: messages of GRIB behind gribberish and scale_offset."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grib_made import message, own_values

import refbrowser
from refbrowser.cli.program import main

pytest.importorskip("eccodes")

ROWS, COLUMNS, STEPS = 5, 8, (0, 6, 12)
LATITUDES, LONGITUDES = np.linspace(90, -90, ROWS), np.arange(COLUMNS) * 45.0 - 180
NO_VALUE = base64.b64encode(struct.pack("<d", np.nan)).decode()
DIMENSIONS = ["init_time", "lead_time", "latitude", "longitude"]


def field(step: int, name: str, values: Any) -> bytes:
    """Return a message of the whole earth, from south to north and from Greenwich on."""
    return message(
        "regular_ll_sfc_grib2", np.asarray(values, float).ravel(),
        Ni=COLUMNS, Nj=ROWS, jScansPositively=1, iDirectionIncrementInDegrees=45,
        jDirectionIncrementInDegrees=45, latitudeOfFirstGridPointInDegrees=-90,
        latitudeOfLastGridPointInDegrees=90, longitudeOfFirstGridPointInDegrees=0,
        longitudeOfLastGridPointInDegrees=315, dataDate=20240401, dataTime=0, step=step, shortName=name,
    )  # fmt: skip


def array(shape: list[int], chunk: list[int], names: list[str], codecs: list[Any], **attributes: Any) -> str:
    return json.dumps(
        {
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": "float64",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": "NaN",
            "codecs": codecs,
            "dimension_names": names,
            "attributes": {"_FillValue": NO_VALUE, **attributes},
        }
    )


def forecast(folder: Path) -> tuple[Path, dict[int, dict[str, bytes]]]:
    """Write a document of references, and the files of two of its steps; return its path and the messages."""
    plain = [{"name": "bytes", "configuration": {"endian": "little"}}]
    turned = {"adjust_longitude_range": True, "north_up": True}
    refs: dict[str, Any] = {"zarr.json": json.dumps({"zarr_format": 3, "node_type": "group"})}
    leads = {"units": "seconds", "standard_name": "forecast_period", "dtype": "timedelta64[us]"}
    axes: dict[str, tuple[Any, dict[str, str]]] = {
        "init_time": ([1711929600.0], {"units": "seconds since 1970-01-01"}),
        "lead_time": ([3600.0 * step for step in STEPS], leads),
        "latitude": (LATITUDES, {"units": "degree_north"}),
        "longitude": (LONGITUDES, {"units": "degree_east"}),
    }
    for name, (values, said) in axes.items():
        data = np.asarray(values, "<f8")
        refs[f"{name}/zarr.json"] = array([*data.shape], [*data.shape], [name], plain, **said)
        refs[f"{name}/c/0"] = f"base64:{base64.b64encode(data.tobytes()).decode()}"
    celsius = [{"name": "scale_offset", "configuration": {"offset": -273.15}}]
    for name, var, before, units in (
        ("temperature_2m", "2t", celsius, "degree_Celsius"),
        ("wind_u_10m", "10u", [], "m s-1"),
    ):
        codecs = [*before, {"name": "gribberish", "configuration": {"var": var, **turned}}]
        shape = [1, len(STEPS), ROWS, COLUMNS]
        refs[f"{name}/zarr.json"] = array(shape, [1, 1, ROWS, COLUMNS], DIMENSIONS, codecs, units=units)
    made: dict[int, dict[str, bytes]] = {}
    for number, step in enumerate(STEPS[:-1]):
        values = 280.0 + step + np.arange(ROWS * COLUMNS)
        made[number] = {
            "temperature_2m": field(step, "2t", values),
            "wind_u_10m": field(step, "10u", values - 300),
        }
        at, file = 0, f"20240401000000-{step}h-oper-fc.grib2"
        (folder / file).write_bytes(b"".join(made[number].values()))
        for name, data in made[number].items():
            refs[f"{name}/c/0/{number}/0/0"] = [f"{{{{u}}}}/{file}", at, len(data)]
            at += len(data)
    document = folder / "forecast.json"
    document.write_text(json.dumps({"version": 1, "templates": {"u": str(folder)}, "refs": refs}))
    return document, made


def turned(data: bytes) -> Any:
    """Return what eccodes reads of a message, north up and from the date line on."""
    return np.roll(own_values(data).reshape(ROWS, COLUMNS)[::-1], COLUMNS // 2, axis=1)


@pytest.mark.slow
def test_its_values_are_those_of_the_messages(tmp_path: Path) -> None:
    document, made = forecast(tmp_path)
    with refbrowser.open(document) as dataset:
        assert not dataset.document.notes
        for number, messages in made.items():
            for name, data in messages.items():
                offset = -273.15 if name == "temperature_2m" else 0
                assert np.array_equal(dataset[f"/{name}"][0, number], turned(data) + offset)
        # No message of the last step was published yet.
        assert np.isnan(dataset["/temperature_2m"][0, 2]).all()


@pytest.mark.slow
def test_an_element_is_explained_from_message_to_celsius(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, made = forecast(tmp_path)
    assert main(["explain", str(document), "--array", "/temperature_2m", "--index", "0,1,2,3"]) == 0
    said = capsys.readouterr().out
    value = turned(made[1]["temperature_2m"])[2, 3] - 273.15
    assert said.startswith(f"This element is {value:.7g} degree_Celsius.")
    for line in (
        'Settings: var "2t", adjust_longitude_range true, north_up true',
        "Packing: by codecs (scale_offset): value = stored - 273.15",
        f"_FillValue: NaN (written {NO_VALUE})",
    ):
        assert line in said
    assert said.index("Codec gribberish") < said.index("Codec scale_offset")
    assert main(["explain", str(document), "--array", "/lead_time", "--index", "1"]) == 0
    assert "This element is 6 hours." in capsys.readouterr().out
    assert main(["explain", str(document), "--array", "/temperature_2m", "--index", "0,2,2,3"]) == 0
    assert "is missing" in capsys.readouterr().out
