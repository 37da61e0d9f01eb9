"""pyproj where it knows its systems, which it does not where a library with a PROJ of its own was first."""

from __future__ import annotations

from typing import Any

import pytest


def pyproj_with_systems() -> Any:
    """Return the package pyproj; the test is skipped where it is not installed, or finds no systems."""
    pyproj = pytest.importorskip("pyproj")
    try:
        pyproj.CRS.from_epsg(4326)
    except pyproj.exceptions.CRSError as error:
        pytest.skip(f"pyproj knows no systems in this process: {error}")
    return pyproj
