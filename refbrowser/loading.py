"""What tables name as text, ``module:name``, loaded when it is first needed; wings may be missing."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from refbrowser.errors import ErrorKind, NotInstalledError

_WINGS = "refbrowser.wings"


def load(name: str) -> Any:
    """Return what is named as ``module:name``; of a module alone, the module.

    Raises
    ------
    NotInstalledError
        It is of a wing that is missing, or needs one.
    """
    module, _, member = name.partition(":")
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or is_there(error.name):
            raise
        raise absent(error.name) from error
    return getattr(found, member) if member else found


def load_if_there(name: str) -> Any:
    """Return the same; None where nothing is named, or it is of a wing that is missing."""
    return load(name) if name and is_there(name) else None


def is_there(name: str) -> bool:
    """Whether what is named is of no wing, or of one that is there; it is not loaded."""
    return not f"{name}.".startswith(f"{_WINGS}.") or _is_wing(_wing_of(name))


def absent(name: str) -> NotInstalledError:
    """Return the error of what is named and is of a wing that is missing."""
    wing = _wing_of(name)
    message = f"this needs {wing}, which is not installed"
    advice = f"install refbrowser whole, with {wing}: pip install --force-reinstall refbrowser"
    return NotInstalledError(ErrorKind.USAGE, message, advice=advice)


def _wing_of(name: str) -> str:
    return ".".join(name.partition(":")[0].split(".")[:3])


@cache
def _is_wing(module: str) -> bool:
    spec = find_spec(module) if find_spec(_WINGS) is not None else None
    # A folder without modules would do for Python.
    return spec is not None and spec.has_location
