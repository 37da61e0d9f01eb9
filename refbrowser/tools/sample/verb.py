"""Write the bundled sample: a reference document of a sea surface and the files that it refers to."""

from __future__ import annotations

import argparse

from refbrowser.cli.console import plain, write_json, write_line
from refbrowser.cli.options import add_json
from refbrowser.io.cancel import CancelToken
from refbrowser.tools.sample.sets import SETS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", default=".", help="where to, made where there is none (here)"
    )
    parser.add_argument(
        "--which",
        choices=list(SETS),
        default="small",
        help="; ".join(f"{name}: {each.words}" for name, each in SETS.items()) + " (small)",
    )
    parser.add_argument("--force", action="store_true", help="replace files of the same names")
    add_json(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Write the sample."""
    from refbrowser.tools.sample.public import sample

    path = sample(arguments.folder, which=arguments.which, force=arguments.force)
    if arguments.json:
        write_json({"document": path})
    else:
        write_line(
            f"{plain(path)}: written, with its data; refbrowser info {plain(path)} shows what it holds"
        )
    return 0
