"""Write a dataset as CDL, in the notation of ncdump -h; ncgen reads it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from refbrowser.cli.console import write_bytes, write_json
from refbrowser.cli.options import add_json, add_reading, add_templates, add_yes, open_dataset
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="PATH", help="what to open")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Open the dataset and write its description."""
    from refbrowser.model.netcdf.dataset import netcdf_view

    with open_dataset(arguments, token) as dataset:
        view = netcdf_view(dataset.hierarchy)
        lines = dataset.cdl_lines(view)
        if arguments.json:
            notes = [
                {"path": note.place.path, "attribute": note.place.attribute, "message": note.message}
                for note in view.notes()
            ]
            write_json({"cdl": "".join(_checked(lines, token)), "notes": notes})
        else:
            # CDL is UTF-8, whatever the terminal takes.
            write_bytes(line.encode() for line in _checked(lines, token))
    return 0


def _checked(lines: Iterator[str], token: CancelToken) -> Iterator[str]:
    for line in lines:
        token.check()
        yield line
