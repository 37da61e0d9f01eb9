"""What is loaded when it is first needed: what tables name as text, and packages. Both may be missing."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from refbrowser.errors import ErrorKind, NotInstalledError, quoted

_WINGS = "refbrowser.wings"
#: Where uvx keeps the environments of what it runs.
_UVX = "archive-v0"
#: What packages are called whose modules have another name.
_PACKAGES = {
    "PySide6": "PySide6-Essentials",
    "backports": "backports.zstd",
    "cf_units": "cf-units",
    "google": "protobuf",
    "PIL": "pillow",
}


def load(name: str) -> Any:
    """Return what is named as ``module:name``; of a module alone, the module.

    Raises
    ------
    NotInstalledError
        It is of a wing that is missing, or needs one; or it needs a package that is not installed.
    """
    module, _, member = name.partition(":")
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        missing = not_installed(error)
        if missing is None:
            raise
        raise missing from error
    return getattr(found, member) if member else found


def require(*modules: str) -> None:
    """Make sure that modules of packages can be imported which only some formats need.

    Raises
    ------
    NotInstalledError
        One of them is not installed; its advice is the line that installs it.
    """
    for module in modules:
        load(module)


def not_installed(error: ModuleNotFoundError) -> NotInstalledError | None:
    """Return what to install where a wing or a package is missing; None where it is a fault of ours."""
    if error.name is None:
        return None
    if not is_there(error.name):
        return absent(error.name)
    module = error.name.partition(".")[0]
    if module in ("", "refbrowser"):
        return None
    package = _PACKAGES.get(module, module)
    message = f"this needs the Python package {quoted(package)[1:-1]}, which is not installed"
    return NotInstalledError(ErrorKind.USAGE, message, advice=_how_to_install(package))


def _how_to_install(package: str) -> str:
    """Return the command that installs a package: by the extra that brings it, where one does."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        needed = requires("refbrowser") or []
    except PackageNotFoundError:
        needed = []
    wanted = _normal(package)
    for line in needed:
        name, extra = re.match(r"[\w.-]*", line), re.search(r"extra == ['\"]([\w-]+)['\"]", line)
        if name is None or _normal(name[0]) != wanted:
            continue
        return to_install(f"refbrowser[{extra[1]}]" if extra else name[0])
    return to_install(package)


def to_install(what: str) -> str:
    """Return the command that adds a package, or an extra of the project, by what installed the project."""
    prefix = Path(sys.prefix)
    is_extra = what.startswith("refbrowser[")
    what = what if re.fullmatch(r"[\w.-]+", what) else f"'{what}'"
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx install --force {what}" if is_extra else f"pipx inject refbrowser {what}"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install {what}" if is_extra else f"uv tool install refbrowser --with {what}"
    if prefix.parent.name == _UVX:
        return f"uvx --from {what} refbrowser" if is_extra else f"uvx --with {what} refbrowser"
    return f"pip install {what}"


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


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
