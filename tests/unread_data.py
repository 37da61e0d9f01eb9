"""A file of data that nothing reads: one of HDF4, where its library is not installed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from refbrowser.formats.hdf4 import opening

#: How such a file begins.
HDF4 = b"\x0e\x03\x13\x01" + bytes(100)


def without_pyhdf() -> AbstractContextManager[Any]:
    """Have pyhdf missing, whether it is installed or not."""
    return patch.object(opening, "_LIBRARY", replace(opening._LIBRARY, package="no_such_package"))
