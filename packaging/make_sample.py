"""Make the bundled sample: a year of sea surface fields described by a Version 1 reference document.

Run it from anywhere: ``python packaging/make_sample.py [FOLDER]``. It always writes the same bytes. The
fields are computed, not observed: a climatology with seasons, currents and eddies over a drawn coast line.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coast import land_mask

Field = npt.NDArray[np.float64]

MONTHS = 12
LATITUDES = np.arange(-89.5, 90, 1.0)
LONGITUDES = np.arange(-179.5, 180, 1.0)
COARSE_LATITUDES = np.arange(-89, 90, 2.0)
COARSE_LONGITUDES = np.arange(-179, 180, 2.0)
DAYS = np.array([15, 45, 74, 105, 135, 166, 196, 227, 258, 288, 319, 349], "<i4")
FILL = -32768
#: Bytes before the first chunk of a month's file, as a header of a real file would take.
HEADER = b"sea surface temperature, sample file of refbrowser\n".ljust(512, b"\0")
#: The wind files hold a quarter each; some passes of the satellite were lost.
LOST_WIND = {(2, 1, 0), (6, 0, 3), (7, 0, 3), (10, 1, 2)}


def smooth_noise(random: np.random.Generator, shape: tuple[int, int], slope: float) -> Field:
    """Return noise with a power-law spectrum, zero mean and unit deviation, periodic in longitude."""
    rows, columns = shape
    wave = np.hypot(np.fft.fftfreq(2 * rows)[:, None] * 2 * rows, np.fft.rfftfreq(columns)[None, :] * columns)
    wave[0, 0] = 1
    spectrum = np.fft.rfft2(random.standard_normal((2 * rows, columns))) * wave**-slope
    spectrum[0, 0] = 0
    field = np.fft.irfft2(spectrum, (2 * rows, columns))[:rows]
    return (field - field.mean()) / field.std()


def eddies(random: np.random.Generator, shape: tuple[int, int]) -> list[Field]:
    """Return one field of eddies a month, each turning slowly into the next."""
    first, second = smooth_noise(random, shape, 1.25), smooth_noise(random, shape, 1.25)
    angles = 2 * np.pi * np.arange(MONTHS) / MONTHS
    return [np.cos(angle) * first + np.sin(angle) * second for angle in angles]


def bump(lon: Field, lat: Field, centre: tuple[float, float], width: tuple[float, float]) -> Field:
    """Return a smooth hill of height 1 around a place (longitude, latitude)."""
    distance = (lon - centre[0] + 180) % 360 - 180
    return np.exp(-((distance / width[0]) ** 2) - ((lat - centre[1]) / width[1]) ** 2)


def sea_surface_temperature(random: np.random.Generator) -> list[Field]:
    """Return the temperature of each month in degrees Celsius, NaN over land."""
    lon, lat = np.meshgrid(LONGITUDES, LATITUDES)
    land = land_mask(lon, lat)
    warm_pool = 1.8 * bump(lon, lat, (150, 2), (45, 14))
    cold_tongue = -3.5 * bump(lon, lat, (-105, -2), (40, 4)) - 3 * bump(lon, lat, (-78, -15), (12, 14))
    upwelling = -3 * bump(lon, lat, (10, -20), (9, 12)) - 2 * bump(lon, lat, (-120, 33), (9, 10))
    gulf_stream = 4 * bump(lon, lat, (-52, 41), (30, 6)) + 6 * bump(lon, lat, (0, 64), (30, 10))
    kuroshio = 4 * bump(lon, lat, (150, 36), (22, 5))
    labrador = -4.5 * bump(lon, lat, (-56, 52), (10, 7)) - 3 * bump(lon, lat, (158, 50), (15, 6))
    steady = warm_pool + cold_tongue + upwelling + gulf_stream + kuroshio + labrador
    fields = []
    for month, eddy in enumerate(eddies(random, lat.shape)):
        season = np.sin(2 * np.pi * (month - 4.5) / 12)
        thermal_equator = lat - 4 * season
        zonal = 29.6 * np.exp(-(np.abs(thermal_equator / np.where(lat > 0, 49, 46)) ** 2.7)) - 2.0
        swing = 3.6 * season * np.sin(np.radians(2 * np.clip(lat, -45, 45))) * (1 + 0.3 * (lat > 0))
        activity = 0.45 + 1.9 * (bump(lon, lat, (-50, 40), (30, 8)) + bump(lon, lat, (150, 37), (30, 8)))
        activity = activity + 0.9 * bump(np.zeros_like(lon), lat, (0, -48), (60, 9))
        field = np.maximum(zonal + swing + steady + activity * eddy, -1.8)
        fields.append(np.where(land, np.nan, field))
    return fields


def sea_ice_fraction(temperature: Field, random: np.random.Generator) -> Field:
    """Return the share of ice on the coarse grid, NaN over land."""
    cold = temperature.reshape(90, 2, 180, 2)
    with np.errstate(invalid="ignore"):
        counted = np.isfinite(cold).sum((1, 3))
        mean = np.where(counted > 0, np.nansum(cold, (1, 3)) / np.maximum(counted, 1), np.nan)
        lat = np.abs(COARSE_LATITUDES)[:, None]
        share = 1 / (1 + np.exp(2.2 * (mean + 0.9 - (lat > 72) * 1.2)))
        share = np.clip(
            share + 0.05 * smooth_noise(random, (90, 180), 1.2) * (share > 0.05) * (share < 0.95), 0, 1
        )
        return np.where(share < 0.15, 0.0 * mean, share)


def wind_speed(random: np.random.Generator) -> list[Field]:
    """Return the wind speed of each month in m/s on the coarse grid."""
    lon, lat = np.meshgrid(COARSE_LONGITUDES, COARSE_LATITUDES)
    rough = 0.55 + 0.45 * ~land_mask(lon, lat)
    fields = []
    for month, eddy in enumerate(eddies(random, lat.shape)):
        season = np.sin(2 * np.pi * (month - 4.5) / 12)
        westerlies = 8 * np.exp(-(((lat + 50) / 13) ** 2)) * (1 - 0.15 * season)
        westerlies += 6 * np.exp(-(((lat - 48) / 13) ** 2)) * (1 - 0.45 * season)
        trades = 4 * np.exp(-(((np.abs(lat - 3 * season) - 15) / 8) ** 2))
        fields.append(np.abs((3 + westerlies + trades + 1.3 * eddy) * rough))
    return fields


def inline(values: npt.NDArray[Any]) -> str:
    """Return values as a base64 reference."""
    return "base64:" + base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def array_json(shape: list[int], chunks: list[int], dtype: str, **members: Any) -> str:
    """Return the text of a ``.zarray``."""
    whole = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "order": "C"}
    return json.dumps(whole | {"fill_value": None, "filters": None, "compressor": None} | members)


def attributes_json(dimensions: list[str], **attributes: Any) -> str:
    """Return the text of a ``.zattrs``."""
    return json.dumps({"_ARRAY_DIMENSIONS": dimensions} | attributes)


def coordinates() -> dict[str, Any]:
    """Return the references of the coordinate variables of both groups."""
    refs: dict[str, Any] = {}
    axes = {
        "ocean": {"lat": LATITUDES.astype("<f4"), "lon": LONGITUDES.astype("<f4"), "time": DAYS},
        "atmosphere": {
            "lat": COARSE_LATITUDES.astype("<f4"),
            "lon": COARSE_LONGITUDES.astype("<f4"),
            "time": DAYS,
        },
        "ice": {"lat": COARSE_LATITUDES.astype("<f4"), "lon": COARSE_LONGITUDES.astype("<f4"), "time": DAYS},
    }
    attributes: dict[str, dict[str, Any]] = {
        "lat": {"standard_name": "latitude", "units": "degrees_north", "axis": "Y"},
        "lon": {"standard_name": "longitude", "units": "degrees_east", "axis": "X"},
        "time": {
            "standard_name": "time",
            "units": "days since 2024-01-01",
            "calendar": "standard",
            "axis": "T",
        },
    }
    for group, members in axes.items():
        for name, values in members.items():
            size = [len(values)]
            refs[f"{group}/{name}/.zarray"] = array_json(size, size, values.dtype.str)
            refs[f"{group}/{name}/.zattrs"] = attributes_json([name], **attributes[name])
            refs[f"{group}/{name}/0"] = inline(values)
    return refs


def write_temperature(folder: Path, fields: list[Field]) -> dict[str, Any]:
    """Write a file a month, two uncompressed chunks in each, and return the metadata."""
    for month, field in enumerate(fields):
        packed = np.where(np.isnan(field), FILL, np.round((field - 15) / 0.002)).astype("<i2")
        (folder / f"sst_2024-{month + 1:02d}.dat").write_bytes(HEADER + packed.tobytes())
    mean = [float(np.nansum(f * np.cos(np.radians(LATITUDES))[:, None])) for f in fields]
    area = [float((np.isfinite(f) * np.cos(np.radians(LATITUDES))[:, None]).sum()) for f in fields]
    return {
        "ocean/.zgroup": '{"zarr_format": 2}',
        "ocean/sst/.zarray": array_json([12, 180, 360], [1, 90, 360], "<i2", fill_value=FILL),
        "ocean/sst/.zattrs": attributes_json(
            ["time", "lat", "lon"], standard_name="sea_surface_temperature",
            long_name="Sea surface temperature", units="degree_Celsius",
            scale_factor=0.002, add_offset=15.0, _FillValue=FILL,
        ),
        "ocean/sst_mean/.zarray": array_json([12], [12], "<f4"),
        "ocean/sst_mean/.zattrs": attributes_json(
            ["time"], long_name="Global mean sea surface temperature", units="degree_Celsius"
        ),
        "ocean/sst_mean/0": inline(np.divide(mean, area).astype("<f4")),
    }  # fmt: skip


def write_ice(folder: Path, fields: list[Field]) -> dict[str, Any]:
    """Write all months but one into one file and return the metadata; July was never received."""
    months = [field for month, field in enumerate(fields) if month != 6]
    packed = [np.where(np.isnan(field), 255, np.round(field * 100)).astype("u1") for field in months]
    (folder / "ice_2024.dat").write_bytes(b"".join(field.tobytes() for field in packed))
    return {
        "ice/.zgroup": '{"zarr_format": 2}',
        "ice/fraction/.zarray": array_json([12, 90, 180], [1, 90, 180], "|u1", fill_value=255),
        "ice/fraction/.zattrs": attributes_json(
            ["time", "lat", "lon"], standard_name="sea_ice_area_fraction", long_name="Sea ice area fraction",
            units="percent", _FillValue=255,
        ),
    }  # fmt: skip


def write_wind(folder: Path, fields: list[Field]) -> dict[str, Any]:
    """Write shuffled and deflated chunks into a file a quarter and return metadata and references."""
    refs: dict[str, Any] = {
        "atmosphere/.zgroup": '{"zarr_format": 2}',
        "atmosphere/wind_speed/.zarray": array_json(
            [12, 90, 180], [1, 45, 45], "<f4", fill_value="NaN",
            filters=[{"id": "shuffle", "elementsize": 4}], compressor={"id": "zlib", "level": 9},
        ),
        "atmosphere/wind_speed/.zattrs": attributes_json(
            ["time", "lat", "lon"], standard_name="wind_speed", long_name="Wind speed at 10 m", units="m s-1"
        ),
    }  # fmt: skip
    for quarter in range(4):
        stored = bytearray()
        name = f"wind_2024-Q{quarter + 1}.dat"
        for month in range(3 * quarter, 3 * quarter + 3):
            # Bits below the accuracy of the field are cleared, so that it compresses well.
            bits = fields[month].astype("<f4").view("<u4") & np.uint32(0xFFFFF000)
            for y, x in np.ndindex(2, 4):
                if (month, y, x) in LOST_WIND:
                    continue
                chunk = np.ascontiguousarray(bits[45 * y : 45 * y + 45, 45 * x : 45 * x + 45])
                shuffled = chunk.view("u1").reshape(-1, 4).T.tobytes()
                packed = zlib.compress(shuffled, 9)
                refs[f"atmosphere/wind_speed/{month}.{y}.{x}"] = ["{{u}}/" + name, len(stored), len(packed)]
                stored += packed
        (folder / name).write_bytes(stored)
    return refs


def rules() -> list[dict[str, Any]]:
    """Return the two gen rules: one of two dimensions, one of a list of months."""
    return [
        {
            "key": "ocean/sst/{{m}}.{{y}}.0",
            "url": "{{ month(n=m + 1) }}",
            "offset": "{{ 512 + y * 64800 }}",
            "length": "64800",
            "dimensions": {"m": {"stop": 12}, "y": {"start": 0, "stop": 2, "step": 1}},
        },
        {
            "key": "ice/fraction/{{ m }}.0.0",
            "url": "{{u}}/ice_2024.dat",
            "offset": "{{ (m if m < 6 else m - 1) * 16200 }}",
            "length": "16200",
            "dimensions": {"m": [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11]},
        },
    ]


def make(target: Path) -> Path:
    """Write the sample into a folder and return the path of its document."""
    data = target / "data"
    data.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(2024)
    temperature = sea_surface_temperature(random)
    refs: dict[str, Any] = {
        ".zgroup": '{"zarr_format": 2}',
        ".zattrs": json.dumps(
            {
                "title": "Sea surface and wind, 2024 (computed sample)",
                "institution": "refbrowser",
                "Conventions": "CF-1.8",
                "comment": "Not observed: made by packaging/make_sample.py.",
            }
        ),
    }
    refs |= write_temperature(data, temperature)
    refs |= write_ice(data, [sea_ice_fraction(field, random) for field in temperature])
    refs |= write_wind(data, wind_speed(random))
    refs |= coordinates()
    document = {
        "version": 1,
        "templates": {"u": "data", "month": "data/sst_2024-{{ '%02d' % n }}.dat"},
        "gen": rules(),
        "refs": refs,
    }
    path = target / "sea_surface.json"
    path.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return path


if __name__ == "__main__":
    default = Path(__file__).resolve().parent.parent / "resources" / "sample"
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
