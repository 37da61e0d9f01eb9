"""Projections of the Earth: one table, and what each makes of a place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.loading import require
from refbrowser.views.longitudes import wrap_longitudes

Floats = npt.NDArray[np.float64]
Pair = tuple[Floats, Floats]
#: Of the sphere, in metres: maps of whole countries look the same on an ellipsoid.
RADIUS = 6_371_229.0
#: A degree of a great circle: planes are measured by it, so that numbers are as in plate carree.
_DEGREE = RADIUS * np.pi / 180.0


class Plane(Protocol):
    """Where places of the Earth are in a plane.

    Attributes
    ----------
    seam
        The meridian at which the plane is cut; None where it is not cut along one.
    """

    @property
    def seam(self) -> float | None:
        """The meridian at which the plane is cut."""

    def forward(self, longitudes: Floats, latitudes: Floats) -> Pair:
        """Return the positions of places (degrees), across and upwards; NaN where they are not seen."""
        ...

    def inverse(self, across: Floats, upwards: Floats) -> Pair:
        """Return the longitudes and latitudes of positions; NaN where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class PlateCarree:
    """Longitudes across, latitudes upwards, around a meridian."""

    middle: float = 0.0

    @property
    def seam(self) -> float | None:
        """Opposite to the middle."""
        return self.middle + 180.0

    def forward(self, longitudes: Floats, latitudes: Floats) -> Pair:
        """Return longitudes in the turn around the middle, and latitudes."""
        with np.errstate(invalid="ignore"):
            across = wrap_longitudes(np.asarray(longitudes, np.float64), self.middle - 180.0)
            return across, np.where(np.abs(latitudes) <= 90.0, latitudes, np.nan)

    def inverse(self, across: Floats, upwards: Floats) -> Pair:
        """Return positions as they are, within one turn and between the poles."""
        with np.errstate(invalid="ignore"):
            inside = (np.abs(across - self.middle) <= 180.0) & (np.abs(upwards) <= 90.0)
        return np.where(inside, across, np.nan), np.where(inside, upwards, np.nan)


@dataclass(frozen=True, slots=True)
class RotatedPole:
    """Longitudes and latitudes around another pole (CF 1.11, appendix F).

    Attributes
    ----------
    longitude, latitude
        Of the pole.
    turn
        The rotated longitude of the North Pole.
    """

    longitude: float
    latitude: float
    turn: float = 0.0

    @property
    def seam(self) -> float | None:
        """None: it is cut along no meridian."""
        return None

    def _axes(self) -> Floats:
        east, north = np.radians([self.longitude, self.latitude])
        up = np.array([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])
        first = np.array([-np.sin(north) * np.cos(east), -np.sin(north) * np.sin(east), np.cos(north)])
        return np.stack([first, np.cross(up, first), up])

    def forward(self, longitudes: Floats, latitudes: Floats) -> Pair:
        """Return rotated longitudes and latitudes."""
        from refbrowser.views.maps.mesh import degrees, vectors

        across, upwards = degrees(vectors(longitudes, latitudes) @ self._axes().T)
        return wrap_longitudes(across + self.turn), upwards

    def inverse(self, across: Floats, upwards: Floats) -> Pair:
        """Return longitudes and latitudes of rotated ones."""
        from refbrowser.views.maps.mesh import degrees, vectors

        return degrees(vectors(across - self.turn, upwards) @ self._axes())


class ProjPlane:
    """A projection that pyproj knows.

    Parameters
    ----------
    transformer
        From longitudes and latitudes to positions.
    scale
        What a position is divided by.
    seam
        The meridian at which it is cut, or None.
    least, most
        Latitudes that are shown: beyond them it grows without end.
    """

    def __init__(
        self,
        transformer: Any,
        scale: float = _DEGREE,
        seam: float | None = None,
        least: float = -90.0,
        most: float = 90.0,
    ) -> None:
        self._transformer, self._scale = transformer, scale
        self.seam = seam
        self._least, self._most = least, most

    def forward(self, longitudes: Floats, latitudes: Floats) -> Pair:
        """Return positions; NaN where places are not seen."""
        longitudes, latitudes = np.broadcast_arrays(
            np.asarray(longitudes, np.float64), np.asarray(latitudes, np.float64)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            seen = (latitudes >= self._least) & (latitudes <= self._most) & (np.abs(longitudes) < 1e4)
            # Other numbers than degrees are not given to the library.
            across, upwards = self._transformer.transform(
                np.where(seen, wrap_longitudes(longitudes), np.nan),
                np.where(seen, latitudes, np.nan),
            )
            seen &= np.isfinite(across) & np.isfinite(upwards)
        return np.where(seen, across, np.nan) / self._scale, np.where(seen, upwards, np.nan) / self._scale

    def inverse(self, across: Floats, upwards: Floats) -> Pair:
        """Return longitudes and latitudes; NaN where there is none, or one that lies elsewhere."""
        across, upwards = np.asarray(across, np.float64), np.asarray(upwards, np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            longitudes, latitudes = self._transformer.transform(
                across * self._scale, upwards * self._scale, direction="INVERSE"
            )
            known = np.isfinite(longitudes) & np.isfinite(latitudes)
            longitudes, latitudes = np.where(known, longitudes, np.nan), np.where(known, latitudes, np.nan)
            # Some go once around the Earth outside of their map.
            back = self.forward(longitudes, latitudes)
            near = 1e-6 * (1.0 + np.abs(across) + np.abs(upwards))
            same = (np.abs(back[0] - across) <= near) & (np.abs(back[1] - upwards) <= near)
        return np.where(same, longitudes, np.nan), np.where(same, latitudes, np.nan)


@dataclass(frozen=True, slots=True)
class MapProjection:
    """A row of the table of projections.

    Attributes
    ----------
    name
        No two share one.
    text
        Its entry in the menu.
    tip
        What it is good for.
    plane
        Makes it around a longitude and latitude; None where it does not depend on the Earth.
    has_latitude
        Whether the latitude of the middle makes a difference.
    has_longitude
        Whether the longitude does.
    is_plain
        Whether it works without pyproj.
    """

    name: str
    text: str
    tip: str
    plane: Callable[[float, float], Plane] | None = None
    has_latitude: bool = False
    has_longitude: bool = True
    is_plain: bool = False


def transformer(definition: str) -> Any:
    """Return what transforms longitudes and latitudes by a definition of PROJ.

    Raises
    ------
    NotInstalledError
        pyproj is missing.
    """
    require("pyproj")
    import pyproj

    return pyproj.Transformer.from_pipeline(definition)


@lru_cache(maxsize=64)
def _made(definition: str, seam: float | None = None, least: float = -90.0, most: float = 90.0) -> ProjPlane:
    words = f"+proj=pipeline +step +proj=unitconvert +xy_in=deg +xy_out=rad +step {definition} +R={RADIUS!r}"
    return ProjPlane(transformer(words), _DEGREE, seam, least, most)


def _orthographic(longitude: float, latitude: float) -> Plane:
    return _made(f"+proj=ortho +lon_0={longitude!r} +lat_0={latitude!r}")


def _robinson(longitude: float, latitude: float) -> Plane:
    return _made(f"+proj=robin +lon_0={longitude!r}", longitude + 180.0)


def _north_polar(longitude: float, latitude: float) -> Plane:
    return _made(f"+proj=stere +lat_0=90 +lon_0={longitude!r}", None, least=0.0)


def _south_polar(longitude: float, latitude: float) -> Plane:
    return _made(f"+proj=stere +lat_0=-90 +lon_0={longitude!r}", None, most=0.0)


def _conformal(longitude: float, latitude: float) -> Plane:
    # Between two parallels around the middle, which is never near the Equator, where the cone is a cylinder.
    middle = float(np.copysign(np.clip(abs(latitude), 20.0, 70.0), latitude or 1.0))
    ends = (middle - 10.0, middle + 10.0)
    shown = {"least": -20.0} if middle > 0 else {"most": 20.0}
    words = f"+proj=lcc +lon_0={longitude!r} +lat_0={middle!r} +lat_1={ends[0]!r} +lat_2={ends[1]!r}"
    return _made(words, longitude + 180.0, **shown)


def _equal_area(longitude: float, latitude: float) -> Plane:
    return _made(f"+proj=laea +lon_0={longitude!r} +lat_0={latitude!r}")


#: As the array is stored: elements at their indices.
INDEX = "index"
#: By the numbers of the coordinates of the dimensions.
SCALE = "scale"
#: In the grid mapping of the array.
OWN = "own"
#: What arrays whose grid is bent are drawn by at first.
PLATE_CARREE = "platecarree"
#: In the order of the menu.
PROJECTIONS = (
    MapProjection(INDEX, "As stored", "Each element alike, at its index", has_longitude=False, is_plain=True),
    MapProjection(
        SCALE,
        "To scale",
        "Elements where the coordinates of the axes are",
        has_longitude=False,
        is_plain=True,
    ),
    MapProjection(OWN, "Grid mapping of the file", "The projection that the file names", has_longitude=False),
    MapProjection(
        PLATE_CARREE,
        "Plate carrée",
        "Longitudes across, latitudes upwards",
        lambda longitude, latitude: PlateCarree(longitude),
        is_plain=True,
    ),
    MapProjection("robinson", "Robinson", "The whole Earth, little distorted", _robinson),
    MapProjection("orthographic", "Orthographic", "The Earth as seen from far away", _orthographic, True),
    MapProjection("north", "Polar stereographic, north", "Around the North Pole", _north_polar),
    MapProjection("south", "Polar stereographic, south", "Around the South Pole", _south_polar),
    MapProjection(
        "conformal", "Lambert conformal conic", "True angles, for middle latitudes", _conformal, True
    ),
    MapProjection("equalarea", "Lambert azimuthal equal-area", "True areas", _equal_area, True),
)
_NAMED = {projection.name: projection for projection in PROJECTIONS}


def projection(name: str) -> MapProjection:
    """Return the row of a name; that of elements at their indices for any other."""
    return _NAMED.get(name, PROJECTIONS[0])


def can_be_drawn(name: str) -> bool:
    """Return whether a projection works here: most need pyproj."""
    return projection(name).is_plain or find_spec("pyproj") is not None
