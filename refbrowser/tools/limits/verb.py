"""Print the limits in force, one a line: name, value, unit, meaning; last those of libraries' processes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from refbrowser.cli.console import write_json, write_line
from refbrowser.cli.options import add_json
from refbrowser.codecs.workers.confinement import in_force
from refbrowser.formats.registry import formats
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS, LimitTable
from refbrowser.loading import load_if_there


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_json(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Print the limits."""
    rows = [row for table in _tables() for row in table.rows()]
    if arguments.json:
        told: dict[str, object] = {
            name: {"value": value, "unit": unit, "meaning": meaning} for name, value, unit, meaning in rows
        }
        write_json(told | {"library_processes": in_force()})
        return 0
    width = max(len(name) for name, *_ in rows)
    for name, value, unit, meaning in rows:
        write_line(f"{name:{width}}  {value:>20} {unit:12} {meaning}")
    write_line("")
    write_line("Processes in which libraries read files (HDF5, GRIB, TIFF, FITS, codecs) have:")
    for name, words in in_force().items():
        write_line(f"{name:{width}}  {words}")
    return 0


def _tables() -> Iterator[LimitTable]:
    """Yield the limits of all formats, then those that single ones have, of wings that are there."""
    yield LIMITS
    for table in (load_if_there(each.limits) for each in formats()):
        if table is not None:
            yield table
