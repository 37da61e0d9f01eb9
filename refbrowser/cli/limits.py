"""Print the limits in force, one a line: name, value, unit, meaning."""

from __future__ import annotations

import argparse

from refbrowser.cli.console import write_json, write_line
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Print the limits."""
    rows = table()
    if arguments.json:
        write_json(
            {name: {"value": value, "unit": unit, "meaning": meaning} for name, value, unit, meaning in rows}
        )
        return 0
    width = max(len(name) for name, *_ in rows)
    for name, value, unit, meaning in rows:
        write_line(f"{name:{width}}  {value:>20} {unit:12} {meaning}")
    return 0
