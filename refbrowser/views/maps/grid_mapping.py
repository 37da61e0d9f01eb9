"""The coordinate reference system of an array as a plane: by CF's grid mappings, WKT and codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.loading import require
from refbrowser.model.multiscales.spatial import spatial_attributes
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.views.maps.projections import Plane, ProjPlane, RotatedPole
from refbrowser.views.plot.coordinates import attribute_text
from refbrowser.views.plot.reading import groups_above

#: The name that GDAL and rioxarray give the variable of a grid mapping.
_USUAL_NAMES = ("spatial_ref", "crs")
#: Longer definitions are not read.
_LENGTH = 20_000
#: What may lead PROJ to files of the user: grids of shifts of a datum.
_FILES = re.compile(r"nadgrids|geoidgrids|grids=|PARAMETERFILE|EXTENSION\s*\[", re.IGNORECASE)
_CODE = re.compile(r"([A-Za-z]{1,20}):([A-Za-z0-9_.]{1,30})")
#: Attributes that hold a definition as WKT.
_WKT = ("crs_wkt", "spatial_ref", "proj:wkt2")
#: Kinds whose coordinates are longitudes and latitudes.
_GEOGRAPHIC = "latitude_longitude"
_ROTATED = "rotated_latitude_longitude"
_METRES = {"km": 1_000.0, "kilometer": 1_000.0, "kilometre": 1_000.0, "kilometers": 1_000.0}
_RADIANS = ("rad", "radian", "radians")


def grid_mapping(hierarchy: Hierarchy, node: ArrayNode) -> Mapping[str, Any]:
    """Return the attributes that tell the coordinate reference system of an array; empty where none do.

    They are those of the variable that its attribute `grid_mapping` names, of one with a usual name beside
    it, or those of the Proj convention for Zarr of the array or its group.
    """
    groups = groups_above(hierarchy, node.path)
    # It may name coordinates, too: ``crs: x y``.
    named = attribute_text(node.attributes, "grid_mapping").split(":")[0].split()
    for name in (*named[:1], *_USUAL_NAMES):
        for group in groups:
            array = group.arrays.get(name)
            if array is not None and (name in named or len(array.shape) < 2) and _tells(array.attributes):
                return array.attributes
    for each in (node.attributes, *(group.attributes for group in groups[:1])):
        spatial = spatial_attributes(each)
        if any(isinstance(spatial.get(name), str) for name in ("proj:code", "proj:wkt2")):
            return spatial
    return {}


def _tells(attributes: Mapping[str, Any]) -> bool:
    return any(isinstance(attributes.get(name), str) for name in ("grid_mapping_name", *_WKT))


def is_usable(mapping: Mapping[str, Any]) -> bool:
    """Return whether what a mapping says can be followed here: all but the rotated pole needs pyproj."""
    is_plain = attribute_text(mapping, "grid_mapping_name") in (_GEOGRAPHIC, _ROTATED)
    return is_plain or find_spec("pyproj") is not None


def is_rotated(mapping: Mapping[str, Any]) -> bool:
    """Return whether a mapping is that of a rotated pole."""
    return attribute_text(mapping, "grid_mapping_name") == _ROTATED


def plane_of(mapping: Mapping[str, Any], units: str) -> Plane | None:
    """Return the plane in which coordinates are; None where they are longitudes and latitudes.

    Parameters
    ----------
    mapping
        Attributes, as `grid_mapping` finds them.
    units
        Of the coordinates.

    Raises
    ------
    NotInstalledError
        pyproj is missing, and it is not one that works without.
    RefbrowserError
        The definition cannot be understood.
    """
    kind = attribute_text(mapping, "grid_mapping_name")
    if kind == _GEOGRAPHIC:
        return None
    if kind == _ROTATED:
        return _rotated_pole(mapping)
    require("pyproj")
    try:
        return _by_pyproj(mapping, kind, units)
    except RefbrowserError:
        raise
    except Exception as error:
        raise RefbrowserError(ErrorKind.FORMAT, f"the grid mapping cannot be understood: {error}") from error


def _rotated_pole(mapping: Mapping[str, Any]) -> Plane:
    numbers = [
        mapping.get(f"{name}", default)
        for name, default in (
            ("grid_north_pole_longitude", None),
            ("grid_north_pole_latitude", None),
            ("north_pole_grid_longitude", 0.0),
        )
    ]
    try:
        longitude, latitude, turn = (float(_first(number)) for number in numbers)
    except (TypeError, ValueError) as error:
        raise RefbrowserError(ErrorKind.FORMAT, "the pole of the rotated grid is not a number") from error
    if not (abs(longitude) <= 720 and abs(latitude) <= 90 and abs(turn) <= 720):
        raise RefbrowserError(ErrorKind.FORMAT, "the pole of the rotated grid is no place on the Earth")
    return RotatedPole(longitude, latitude, turn)


def _first(value: Any) -> Any:
    """Return a number that may be written as a list of one."""
    return value[0] if isinstance(value, list | tuple) and len(value) == 1 else value


def _by_pyproj(mapping: Mapping[str, Any], kind: str, units: str) -> Plane | None:
    import pyproj

    crs = _crs(mapping, kind)
    if crs.is_geographic:
        return None
    # Places on the Earth are those of its own ellipsoid: no shift of a datum, and no files with one.
    geodetic = crs.geodetic_crs
    if geodetic is None:
        raise RefbrowserError(ErrorKind.FORMAT, "the grid mapping is not one of places on the Earth")
    found = pyproj.Transformer.from_crs(geodetic, crs, always_xy=True)
    unit = _METRES.get(units, 1.0)
    if units in _RADIANS and kind == "geostationary":
        # Angles of the scan: those of PROJ are multiplied by the height.
        unit = float(_first(mapping["perspective_point_height"]))
    meridian = mapping.get("longitude_of_central_meridian")
    conic = kind in ("lambert_conformal_conic", "albers_conical_equal_area")
    seam = float(_first(meridian)) + 180.0 if conic and isinstance(meridian, int | float) else None
    return ProjPlane(found, unit, seam)


def _crs(mapping: Mapping[str, Any], kind: str) -> Any:
    import pyproj

    texts = [text for name in _WKT if isinstance(text := mapping.get(name), str) and text.strip()]
    code = mapping.get("proj:code")
    if isinstance(code, str):
        texts.append(code)
    failure: Exception | None = None
    for text in (text.strip() for text in texts):
        if len(text) > _LENGTH or _FILES.search(text):
            continue
        named = _CODE.fullmatch(text)
        try:
            return pyproj.CRS.from_authority(*named.groups()) if named else pyproj.CRS.from_wkt(text)
        except pyproj.exceptions.CRSError as error:
            failure = error
    if kind:
        plain = {
            name: _first(value) for name, value in mapping.items() if name not in ("crs_wkt", "spatial_ref")
        }
        return pyproj.CRS.from_cf(plain)
    raise failure or RefbrowserError(ErrorKind.FORMAT, "the grid mapping is not one that is known")
