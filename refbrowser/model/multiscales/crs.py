"""The coordinate reference system of a picture, as attributes describe it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: Systems of longitudes and latitudes that are written by their code most often.
_GEOGRAPHIC = frozenset(
    {"OGC:CRS84", *(f"EPSG:{code}" for code in (4326, 4258, 4267, 4269, 4230, 4283, 4617, 7844))}
)
#: Codes of systems in metres: Web Mercator, those of Europe and of the poles, UTM zones of WGS 84 and ETRS89.
_METRES = frozenset(
    f"EPSG:{code}"
    for code in (3857, 3035, 3031, 3413, *range(25828, 25839), *range(32601, 32661), *range(32701, 32761))
)
#: Names and units are looked for in so many characters of a text.
_LOOKED_AT = 100_000
_CODE_LENGTH = 200
_METRE = "m"
_CODE = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,30}):([A-Za-z0-9_.]{1,30})")
#: Keywords of WKT, of versions 1 and 2 (OGC 18-010r11, 8.2 and 9.2).
_PROJECTED = re.compile(r"\b(PROJCRS|PROJECTEDCRS|PROJCS)\s*[\[(]", re.IGNORECASE)
_LONGITUDES = re.compile(r"\b(GEOGCRS|GEOGRAPHICCRS|GEODCRS|GEODETICCRS|GEOGCS)\s*[\[(]", re.IGNORECASE)
_NAME = re.compile(r'[\[(]\s*"([^"]{1,200})"')
_LENGTHS = re.compile(r'\bLENGTHUNIT\s*[\[(]\s*"([^"]{1,50})"', re.IGNORECASE)
_SPELLED = {"metre": _METRE, "meter": _METRE}


@dataclass(frozen=True, slots=True)
class Crs:
    """A coordinate reference system.

    Attributes
    ----------
    name
        What it is called, for people: its name, its code, or both.
    code
        ``AUTHORITY:code``; empty where it is given in another way.
    is_geographic
        Whether coordinates are longitudes and latitudes; None where that is not known.
    units
        Of its coordinates; empty where they are not known, and for degrees.
    """

    name: str
    code: str = ""
    is_geographic: bool | None = None
    units: str = ""


def crs_of(attributes: Iterable[Mapping[str, Any]]) -> Crs | None:
    """Return what the first of some attributes says with ``proj:code``, ``proj:wkt2`` or ``proj:projjson``.

    The Proj convention for Zarr (zarr-conventions/proj) has attributes of an array stand before those of its
    group. None where nothing is said.
    """
    for each in attributes:
        found = _of_texts(each.get("proj:code"), each.get("proj:wkt2"), each.get("proj:projjson"))
        if found is not None:
            return found
    return None


def crs_of_mapping(attributes: Mapping[str, Any]) -> Crs | None:
    """Return what the variable of a grid mapping says (CF 1.11, 5.6), and GDAL's ``spatial_ref`` in it.

    None where it says nothing that is known here.
    """
    for name in ("crs_wkt", "spatial_ref"):
        text = attributes.get(name)
        if isinstance(text, str) and text.strip():
            is_code = _CODE.fullmatch(text.strip()) is not None
            return _of_texts(text, None, None) if is_code else _of_wkt(text)
    kind = attributes.get("grid_mapping_name")
    if not isinstance(kind, str) or not kind.strip():
        return None
    return Crs(kind.strip()[:_CODE_LENGTH].replace("_", " "), "", kind.strip() == "latitude_longitude")


def known_by_pyproj(crs: Crs) -> Crs:
    """Return a system with what pyproj knows of its code, where that is installed and it is not known here.

    It takes a moment the first time: not for the thread of a window.
    """
    # A text of another form could name files, as those of PROJ may.
    code = _CODE.fullmatch(crs.code)
    if crs.is_geographic is not None or code is None:
        return crs
    try:
        from pyproj import CRS

        found = CRS.from_authority(code[1], code[2])
        unit = "" if found.is_geographic else _unit(found.axis_info[0].unit_name)
    except Exception:  # noqa: BLE001 - not installed, or a code that it does not know
        return crs
    return Crs(crs.name, crs.code, found.is_geographic, unit)


def _of_texts(code: Any, text: Any, shape: Any) -> Crs | None:
    named = code.strip()[:_CODE_LENGTH] if isinstance(code, str) else ""
    told = _of_wkt(text) if isinstance(text, str) and text.strip() else None
    if told is None and isinstance(shape, Mapping):
        told = _of_projjson(shape)
    if not named:
        return told
    if told is not None:
        return Crs(f"{told.name} ({named})", named, told.is_geographic, told.units)
    is_geographic = True if named in _GEOGRAPHIC else False if named in _METRES else None
    return Crs(named, named, is_geographic, _METRE if named in _METRES else "")


def _of_wkt(text: str) -> Crs:
    shown = text[:_LOOKED_AT]
    name = _NAME.search(shown)
    called = name[1] if name is not None else shown.strip()[:_CODE_LENGTH]
    if _PROJECTED.search(shown):
        units = _LENGTHS.findall(shown)
        # That of the axes stands after those of parameters and of the ellipsoid.
        return Crs(called, "", False, _unit(units[-1]) if units else "")
    return Crs(called, "", True if _LONGITUDES.search(shown) else None)


def _of_projjson(shape: Mapping[str, Any]) -> Crs:
    name = shape.get("name")
    called = name[:_CODE_LENGTH] if isinstance(name, str) and name else "PROJJSON"
    kind = shape.get("type")
    if kind == "ProjectedCRS":
        return Crs(called, "", False, _unit(_axis_unit(shape.get("coordinate_system"))))
    if kind in ("GeographicCRS", "GeodeticCRS"):
        return Crs(called, "", True)
    if kind == "BoundCRS" and isinstance(shape.get("source_crs"), Mapping):
        inner = shape["source_crs"]
        return _of_projjson(inner) if inner.get("type") != "BoundCRS" else Crs(called)
    return Crs(called)


def _axis_unit(system: Any) -> Any:
    axes = system.get("axis") if isinstance(system, Mapping) else None
    first = axes[0] if isinstance(axes, list) and axes else None
    unit = first.get("unit") if isinstance(first, Mapping) else None
    return unit.get("name") if isinstance(unit, Mapping) else unit


def _unit(name: Any) -> str:
    text = name if isinstance(name, str) else ""
    return _SPELLED.get(text.strip().lower(), text.strip()[:50])
