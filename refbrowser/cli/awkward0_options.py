"""Arguments of ``export`` that say how Awkward 0 is written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError

if TYPE_CHECKING:
    from refbrowser.exporting.awkward0_options import Awkward0Writing


def add_awkward0_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    group = parser.add_argument_group("how awkward0 is written")
    group.add_argument(
        "--container",
        metavar="KIND",
        help="zip (.awkd, usual), hdf5 (as for a target that ends in .h5), or folder (as for one that "
        "ends in /)",
    )
    group.add_argument(
        "--name", metavar="NAME", help="of the array; of several, what stands before their names"
    )
    group.add_argument(
        "--delimiter", metavar="TEXT", help="between the name of an array and the numbers of its blobs (-)"
    )
    group.add_argument("--suffix", metavar="TEXT", help="of the names of blobs (.raw)")
    group.add_argument("--schema-suffix", metavar="TEXT", help="of the names of descriptions (.json)")
    group.add_argument(
        "--compression",
        action="append",
        default=[],
        metavar="RULE",
        help="none, default, or zlib:6,minsize=8192,types=integer+bool,contexts=*.counts; also lzma, lz4 "
        "and bz2 (repeatable: the first rule that fits)",
    )
    group.add_argument("--append", action="store_true", help="keep the target, and add arrays to it")
    group.add_argument(
        "--replace-arrays", action="store_true", help="as --append, replacing arrays of the same name"
    )
    group.add_argument(
        "--delete-array",
        action="append",
        default=[],
        metavar="NAME",
        help="remove an array from the target, which is kept (repeatable); nothing is added where the target "
        "is what was opened",
    )


def awkward0_options(arguments: argparse.Namespace) -> Awkward0Writing:
    """Return what the arguments say.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: one has no meaning, alone or with the format.
    """
    from refbrowser.exporting.awkward0_options import Awkward0Writing, kind_named
    from refbrowser.exporting.request import AWKWARD_FORMAT
    from refbrowser.formats.awkward0.writing.policy import policy_of

    writing = Awkward0Writing(
        container=kind_named(arguments.container) if arguments.container else None,
        name=arguments.name,
        delimiter=arguments.delimiter,
        suffix=arguments.suffix,
        schema_suffix=arguments.schema_suffix,
        compression=tuple(arguments.compression),
        append=arguments.append,
        replace=arguments.replace_arrays,
        removed=tuple(arguments.delete_array),
    )
    if arguments.format != AWKWARD_FORMAT and writing != Awkward0Writing():
        message = "names, compression rules and appending are chosen for awkward0 only"
        raise RefbrowserError(ErrorKind.USAGE, message)
    if writing.keeps and arguments.force:
        message = "--force replaces the target, --append keeps it"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="choose one of them")
    _ = policy_of(writing.compression)
    return writing
