"""Show or change settings of the command line: trusted origins, how to connect, a Dask cluster.

What is given with a verb comes first, then environment variables (REFBROWSER_ALLOW and others), then the
file. The window and programs in Python do not use them. A change made here drops comments of the file.
"""

from __future__ import annotations

import argparse

from refbrowser.cli.console import plain, write_json, write_line
from refbrowser.cli.options import add_json
from refbrowser.cli.settings import SETTINGS, checked, in_force, of_file, settings_path, whence, write
from refbrowser.errors import NOWHERE, ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken

_DOES = {
    "show": "all settings that have a value, and where it comes from (the usual)",
    "get": "the value of one, each item of a list on a line",
    "set": "give it a value; a list is replaced",
    "add": "add items to a list",
    "unset": "take it out of the file",
    "path": "where the file is",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    does = "; ".join(f"{name}: {words}" for name, words in _DOES.items())
    parser.add_argument("action", nargs="?", default="show", choices=_DOES, help=does)
    names = "; ".join(f"{name}: {setting.words}" for name, setting in SETTINGS.items())
    named = parser.add_argument("name", nargs="?", metavar="NAME", help=names)
    # What shells offer.
    vars(named)["offered"] = tuple(SETTINGS)
    parser.add_argument("values", nargs="*", metavar="VALUE", help="of set and add")
    add_json(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Show or change settings."""
    action, name, values = arguments.action, arguments.name, arguments.values
    takes = {"show": 0, "path": 0, "get": 1, "unset": 1}.get(action, 2)
    if (name is None) != (takes == 0) or bool(values) != (takes == 2):
        needs = ("no name", "one NAME", "a NAME and its VALUE")[takes]
        raise RefbrowserError(ErrorKind.USAGE, f"config {action} takes {needs}")
    if action == "path":
        path = settings_path()
        _tell(None if path is None else str(path), arguments)
    elif action == "show":
        _show(arguments)
    elif action == "get":
        if name not in SETTINGS:
            checked(name, [], NOWHERE)
        _tell(in_force().get(name, (None, ""))[0], arguments)
    else:
        _change(action, name, values)
    return 0


def _change(action: str, name: str, values: list[str]) -> None:
    settings = of_file()
    if action == "unset":
        if name not in SETTINGS:
            checked(name, [], NOWHERE)
        settings.pop(name, None)
    elif action == "add":
        there = settings.get(name, [])
        if name in SETTINGS and not SETTINGS[name].is_list:
            raise RefbrowserError(
                ErrorKind.USAGE, f"the setting {name} is one value", advice="use config set"
            )
        settings[name] = checked(name, list(dict.fromkeys([*there, *values])), NOWHERE)
    else:
        settings[name] = checked(name, values, NOWHERE)
    write(settings)


def _show(arguments: argparse.Namespace) -> None:
    found = in_force()
    if arguments.json:
        write_json({name: {"value": value, "from": source} for name, (value, source) in found.items()})
        return
    for name, (value, source) in found.items():
        for item in value if isinstance(value, list) else [value]:
            write_line(f"{name} = {plain(item)}  (of {plain(whence(name, source))})")
    if not found:
        write_line(f"no settings; {plain(settings_path() or 'no file')} would hold them")


def _tell(value: str | list[str] | None, arguments: argparse.Namespace) -> None:
    if arguments.json:
        write_json(value)
        return
    for item in [] if value is None else value if isinstance(value, list) else [value]:
        write_line(plain(item))
