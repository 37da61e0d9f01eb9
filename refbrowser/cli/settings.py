"""Settings of the command line: a file of the user's, environment variables; what is given with a verb wins.

They say what a user would else write with each command, and can give no more than that: origins that are
trusted, how to connect (never a secret: keys and passwords stay where the tools of a provider have them). No
document, and no folder that a command is started in, can bring settings along.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted

if TYPE_CHECKING:
    import argparse

#: Bytes of the file that are read at most.
_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: the option whose value it is, what it means, and what it may be."""

    words: str
    is_list: bool = False
    choices: tuple[str, ...] = ()

    def variable(self, name: str) -> str:
        """Return the environment variable that gives it."""
        return f"REFBROWSER_{name.replace('-', '_').upper()}"


SETTINGS = {
    "allow": Setting("origins that every document may read from: hosts, buckets, folders", is_list=True),
    "allow-codec": Setting(
        "codecs of installed packages, or such packages, that may decode for every document", is_list=True
    ),
    "storage-option": Setting("how to connect to them, ORIGIN:KEY=VALUE", is_list=True),
    "stale": Setting("files that are not those of a lock", choices=("refuse", "allow")),
    "dask": Setting("the Dask cluster that works: tcp://HOST:PORT, local or local:N"),
}

#: Where a value comes from.
FILE, ENVIRONMENT = "file", "environment"


def settings_path() -> Path | None:
    """Return the path of the file of settings; None where ``REFBROWSER_CONFIG`` is empty."""
    chosen = os.environ.get("REFBROWSER_CONFIG")
    if chosen is not None:
        return Path(chosen) if chosen else None
    if sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "refbrowser" / "config.toml"


def checked(name: str, values: list[str], place: Place) -> str | list[str]:
    """Return the value of a setting.

    Raises
    ------
    RefbrowserError
        There is no such setting, or it cannot have this value.
    """
    setting = SETTINGS.get(name)
    if setting is None:
        advice = f"there are {', '.join(SETTINGS)}"
        raise RefbrowserError(ErrorKind.USAGE, f"there is no setting {quoted(name)}", place, advice)
    if not setting.is_list:
        if len(values) != 1 or (setting.choices and values[0] not in setting.choices):
            known = " or ".join(setting.choices) or "one text"
            raise RefbrowserError(ErrorKind.USAGE, f"the setting {name} is {known}", place)
        return values[0]
    from refbrowser.io.origins import Origin, parse_storage_options

    try:
        if name == "allow":
            for value in values:
                Origin.parse(value)
        elif name == "allow-codec":
            _check_codecs(values)
        else:
            parse_storage_options(values)
    except RefbrowserError as error:
        raise error.at(place) from None
    return values


def _check_codecs(values: list[str]) -> None:
    """Raise where one of the names could be that of no codec and no package."""
    for value in values:
        if not value.strip() or not value.isprintable() or "*" in value:
            message = f"{quoted(value)} is the name of no codec and no package"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="name each codec or package by itself")


def of_file() -> dict[str, str | list[str]]:
    """Return what the file says; nothing where there is none.

    Raises
    ------
    RefbrowserError
        It cannot be read, others may change it (`E_UNSAFE`), or it says what is no setting.
    """
    path = settings_path()
    if path is None or not os.path.lexists(path):
        return {}
    import tomllib

    place = Place(path=str(path))
    with open(path, "rb") as file:
        _check_own(os.fstat(file.fileno()), place)
        data = file.read(_SIZE + 1)
    if len(data) > _SIZE:
        raise RefbrowserError(ErrorKind.BUDGET, "the file of settings is longer than 1 MiB", place)
    try:
        text = data.decode()
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefbrowserError(ErrorKind.FORMAT, f"this is no TOML: {quoted(error)[1:-1]}", place) from None
    settings = {}
    for name, value in found.items():
        values, place = value if isinstance(value, list) else [value], _at(path, text, name)
        if not all(isinstance(each, str) for each in values):
            raise RefbrowserError(ErrorKind.FORMAT, f"the setting {quoted(name)} is not text", place)
        settings[name] = checked(name, values, place)
    return settings


def _at(path: Path, text: str, name: str) -> Place:
    """Return where a setting is said: the line that begins with its name, or with a table of that name."""
    begin = re.compile(rf"\s*\[*\s*[\"']?{re.escape(name)}[\"']?\s*[=.\]]")
    lines = enumerate(text.splitlines(), 1)
    return Place(path=str(path), line=next((number for number, line in lines if begin.match(line)), None))


def _check_own(found: os.stat_result, place: Place) -> None:
    """Raise where somebody else could have written the file: it says what may be read."""
    if not stat.S_ISREG(found.st_mode):
        raise RefbrowserError(ErrorKind.UNSAFE, "the file of settings is no regular file", place)
    if not hasattr(os, "geteuid"):
        return
    if found.st_uid not in (os.geteuid(), 0) or found.st_mode & 0o022:
        message = "the file of settings can be changed by others, and is not read"
        advice = "make it yours alone: chown it to yourself, chmod go-w"
        raise RefbrowserError(ErrorKind.UNSAFE, message, place, advice)


def of_environment() -> dict[str, str | list[str]]:
    """Return what environment variables say; items of a list are separated by blanks, quoted as in a shell.

    Raises
    ------
    RefbrowserError
        One has a value that its setting cannot have.
    """
    settings = {}
    for name, setting in SETTINGS.items():
        variable = setting.variable(name)
        text = os.environ.get(variable)
        if not text:
            continue
        try:
            values = shlex.split(text) if setting.is_list else [text]
        except ValueError as error:
            raise RefbrowserError(ErrorKind.USAGE, f"{variable} cannot be split: {error}") from None
        settings[name] = checked(name, values, Place(field=variable))
    return settings


def in_force() -> dict[str, tuple[Any, str]]:
    """Return each setting that has a value, and where that comes from; the environment wins."""
    found = {name: (value, FILE) for name, value in of_file().items()}
    return found | {name: (value, ENVIRONMENT) for name, value in of_environment().items()}


def whence(name: str, source: str) -> str:
    """Return where the value of a setting comes from: the path of the file, or the name of the variable."""
    return str(settings_path()) if source == FILE else SETTINGS[name].variable(name)


def write(settings: Mapping[str, str | list[str]]) -> Path:
    """Write the file of settings anew, for its owner alone; return its path.

    Raises
    ------
    RefbrowserError
        There is to be none, or it cannot be written.
    """
    from refbrowser.io.files.atomic import write_atomically

    path = settings_path()
    if path is None:
        message = "there is no file of settings, as REFBROWSER_CONFIG is empty"
        raise RefbrowserError(ErrorKind.USAGE, message)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Texts of TOML are written as those of JSON.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in settings.items()]
    is_new = not path.exists()
    write_atomically(path, ["".join(lines).encode()])
    if is_new:
        path.chmod(0o600)
    return path


def give_settings(parser: argparse.ArgumentParser) -> list[str]:
    """Let a verb's options have the values of settings where nothing else is given; return a line for each.

    Those that are lists come before what is given with the verb, so that this wins.
    """
    lines = []
    for name, (value, source) in in_force().items():
        option = name.replace("-", "_")
        if parser.get_default(option) is None:
            continue
        parser.set_defaults(**{option: value})
        lines.append(f"{name} = {value} (of {whence(name, source)})")
    return lines
