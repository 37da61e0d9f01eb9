"""The coordinate system of a GeoTIFF as a grid mapping of CF (OGC 19-008r4, 7.4; CF-1.11, appendix F)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The name that rioxarray and GDAL give the variable of a grid mapping.
GRID_MAPPING = "spatial_ref"
_PROJECTED, _USER_DEFINED, _LEAST_CODE = 1, 32767, 1024
#: Major axis and inverse flattening of ellipsoids that user-defined systems name by their EPSG code.
_ELLIPSOIDS = {
    7001: (6377563.396, 299.3249646),
    7004: (6377397.155, 299.1528128),
    7008: (6378206.4, 294.978698213898),
    7019: (6378137.0, 298.257222101),
    7022: (6378388.0, 297.0),
    7024: (6378245.0, 298.3),
    7030: (6378137.0, 298.257223563),
}
#: Ellipsoids of geographic systems.
_OF_SYSTEMS = {4326: 7030, 4258: 7019, 4269: 7019, 4267: 7008, 4230: 7022}
_Parameters = dict[str, tuple[str, ...]]
_ORIGIN: _Parameters = {
    "latitude_of_projection_origin": ("ProjNatOriginLat", "ProjFalseOriginLat", "ProjCenterLat"),
    "longitude_of_central_meridian": ("ProjNatOriginLong", "ProjFalseOriginLong", "ProjCenterLong"),
    "false_easting": ("ProjFalseEasting", "ProjFalseOriginEasting", "ProjCenterEasting"),
    "false_northing": ("ProjFalseNorthing", "ProjFalseOriginNorthing", "ProjCenterNorthing"),
}
_CENTRE: _Parameters = {
    name.replace("central_meridian", "projection_origin"): keys for name, keys in _ORIGIN.items()
}
_SCALE: _Parameters = {"scale_factor_at_central_meridian": ("ProjScaleAtNatOrigin", "ProjScaleAtCenter")}
_POLE: _Parameters = {
    **{name: keys for name, keys in _ORIGIN.items() if name.startswith("false")},
    "standard_parallel": ("ProjNatOriginLat",),
    "straight_vertical_longitude_from_pole": ("ProjStraightVertPoleLong", "ProjNatOriginLong"),
}
#: By ProjCoordTransGeoKey: what CF calls a projection, and its parameters with the keys that give them.
_PROJECTIONS: dict[int, tuple[str, _Parameters]] = {
    1: ("transverse_mercator", _ORIGIN | _SCALE),
    8: ("lambert_conformal_conic", _ORIGIN),
    10: ("lambert_azimuthal_equal_area", _CENTRE),
    11: ("albers_conical_equal_area", _ORIGIN),
    12: ("azimuthal_equidistant", _CENTRE),
    15: ("polar_stereographic", _POLE),
    21: ("orthographic", _CENTRE),
}
_TWO_PARALLELS, _POLAR = (8, 11), 15


def grid_mapping(geo: Mapping[str, Any], transform: str) -> dict[str, Any]:
    """Return the attributes of the grid mapping of an image; nothing where its system has no words here.

    Parameters
    ----------
    geo
        The GeoKeys by name.
    transform
        As GDAL spells it in the attribute ``GeoTransform``; empty where it is not known.
    """
    found = _of_code(geo) or _of_keys(geo)
    if found and transform:
        found["GeoTransform"] = transform
    return found


def _of_code(geo: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a system that has an EPSG code."""
    is_projected = geo.get("GTModelTypeGeoKey") == _PROJECTED
    names = ("ProjectedCSTypeGeoKey",) if is_projected else ("GeographicTypeGeoKey", "GeodeticCRSGeoKey")
    code = next((geo[name] for name in names if isinstance(geo.get(name), int)), 0)
    if not _LEAST_CODE <= code < _USER_DEFINED:
        return {}
    text = _well_known_text(code)
    return {"crs_wkt": text, "spatial_ref": text}


def _well_known_text(code: int) -> str:
    """Return a system as WKT where pyproj is installed, else by its code, which rioxarray takes as well."""
    try:
        from pyproj import CRS

        return str(CRS.from_epsg(code).to_wkt())
    except Exception:  # noqa: BLE001 - not installed, or a code that it does not know
        return f"EPSG:{code}"


def _of_keys(geo: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a system that is put together from keys, where CF has words for all of it."""
    ellipsoid = _ellipsoid(geo)
    if not ellipsoid:
        return {}
    if geo.get("GTModelTypeGeoKey") != _PROJECTED:
        return {"grid_mapping_name": "latitude_longitude", **ellipsoid}
    number = geo.get("ProjCoordTransGeoKey")
    if (
        not isinstance(number, int)
        or number not in _PROJECTIONS
        or geo.get("ProjLinearUnitsGeoKey", 9001) != 9001
    ):
        return {}
    name, parameters = _PROJECTIONS[number]
    found: dict[str, Any] = {"grid_mapping_name": name, **ellipsoid}
    for parameter, keys in parameters.items():
        value = next((geo[f"{key}GeoKey"] for key in keys if _is_number(geo.get(f"{key}GeoKey"))), None)
        if value is None:
            value = 1.0 if parameter.startswith("scale_factor") else 0.0
        found[parameter] = float(value)
    if number in _TWO_PARALLELS:
        parallels = [geo.get(f"ProjStdParallel{at}GeoKey") for at in (1, 2)]
        if not all(map(_is_number, parallels)):
            return {}
        found["standard_parallel"] = [float(each or 0) for each in parallels]
    if number == _POLAR:
        # The latitude of the origin is that of true scale (GeoTIFF, C.2.15).
        found["latitude_of_projection_origin"] = 90.0 if found["standard_parallel"] >= 0 else -90.0
    return found


def _ellipsoid(geo: Mapping[str, Any]) -> dict[str, Any]:
    axis, flattening = geo.get("GeogSemiMajorAxisGeoKey"), geo.get("GeogInvFlatteningGeoKey")
    if not (_is_number(axis) and _is_number(flattening)):
        system, code = geo.get("GeographicTypeGeoKey"), geo.get("GeogEllipsoidGeoKey")
        if not isinstance(code, int):
            code = _OF_SYSTEMS.get(system, 0) if isinstance(system, int) else 0
        axis, flattening = _ELLIPSOIDS.get(code, (None, None))
    if axis is None or flattening is None or geo.get("GeogPrimeMeridianGeoKey", 8901) != 8901:
        return {}
    if not flattening:
        return {"earth_radius": float(axis)}
    shape = {"semi_major_axis": float(axis), "inverse_flattening": float(flattening)}
    return {**shape, "longitude_of_prime_meridian": 0.0}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)
