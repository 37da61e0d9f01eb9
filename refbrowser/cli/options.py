"""Arguments that several verbs share, and opening what they name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import ProgressBar, tell
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.ncstream.options import ORDERS, StreamOptions
from refbrowser.io.cancel import CancelToken
from refbrowser.model.flavour import Flavour

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array, Dataset
    from refbrowser.engine.jobs import JobControl
    from refbrowser.model.listing import StoreListing


def listed(names: Iterable[str]) -> str:
    """Return names as words: ``a, b or c``."""
    *most, last = names
    return f"{', '.join(most)} or {last}"


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="JSON on standard output")


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow``."""
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let the document read from this origin: scheme, host and port, or a folder (repeatable)",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add what every verb that reads data takes."""
    add_flavour(parser)
    add_stream(parser)
    add_allow_function(parser)
    add_origins(parser)


def add_allow_function(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow-function``."""
    parser.add_argument(
        "--allow-function",
        action="append",
        default=[],
        metavar="PATTERN",
        help="let a file of Awkward 0 use this function of ours, for example bz2.decompress (repeatable)",
    )


def add_origins(parser: argparse.ArgumentParser) -> None:
    """Add where may be read from, and how."""
    add_allow(parser)
    parser.add_argument(
        "--storage-option",
        action="append",
        default=[],
        metavar="ORIGIN:KEY=VALUE",
        help="a connection setting for one origin (repeatable)",
    )


def add_templates(parser: argparse.ArgumentParser) -> None:
    """Add ``--template``."""
    parser.add_argument(
        "--template",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="use this value for a template (repeatable)",
    )


def add_flavour(parser: argparse.ArgumentParser) -> None:
    """Add ``--as``."""
    parser.add_argument(
        "--as",
        dest="flavour",
        metavar="FLAVOUR",
        help=f"open a store as {listed(Flavour)}",
    )


def add_stream(parser: argparse.ArgumentParser) -> None:
    """Add how streams of messages are read."""
    parser.add_argument(
        "--byte-order",
        choices=ORDERS,
        help="read all numbers of a stream in this order, or just as its messages say (flag)",
    )
    parser.add_argument(
        "--until",
        type=int,
        metavar="NUMBER",
        help="show a stream as it was after this message; the first one is 0",
    )


def add_yes(parser: argparse.ArgumentParser) -> None:
    """Add ``--yes``."""
    parser.add_argument("--yes", action="store_true", help="answer questions of size with yes")


def add_skip_bad(parser: argparse.ArgumentParser) -> None:
    """Add ``--skip-bad``."""
    parser.add_argument(
        "--skip-bad", action="store_true", help="leave out what is faulty, with a warning for each"
    )


def template_values(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the values given with ``--template``."""
    values = {}
    for text in arguments.template:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} is not of the form NAME=VALUE")
        values[name] = value
    return values


def ask(arguments: argparse.Namespace, error: RefbrowserError) -> bool:
    """Tell whether to go on above a size that needs a question: ``--yes``, or the answer on a terminal."""
    if arguments.yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    tell(f"refbrowser: {error}")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def job_control(token: CancelToken, bar: ProgressBar) -> JobControl:
    """Return the control of work that tells its progress to `bar`."""
    from refbrowser.engine.jobs import JobControl

    return JobControl(token, bar.update)


def find_array(dataset: Dataset, path: str) -> Array:
    """Return the array at `path`."""
    from refbrowser.engine.dataset import Array

    node = dataset[path]
    if not isinstance(node, Array):
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(path)} is a group, not an array")
    return node


def open_dataset(arguments: argparse.Namespace, token: CancelToken) -> Dataset:
    """Open the dataset that ``arguments.path`` names."""
    from refbrowser.engine.opening import OpenRequest, open_dataset

    with ProgressBar("opening") as bar:
        return open_dataset(OpenRequest(arguments.path, **_how(arguments)), job_control(token, bar))


def list_store(dataset: Dataset, token: CancelToken) -> StoreListing | None:
    """List the store of a dataset where that can be done, so that missing chunks are known."""
    if dataset.document.store is None:
        return None
    from refbrowser.engine.audit import list_store

    with ProgressBar("listing") as bar:
        return list_store(dataset, job_control(token, bar))


def open_document(path: str, arguments: argparse.Namespace, token: CancelToken) -> Any:
    """Open one reference document, without its hierarchy."""
    from refbrowser.engine.opening import OpenRequest, open_document

    with ProgressBar("opening") as bar:
        return open_document(OpenRequest(path, **_how(arguments)), job_control(token, bar))


def _stream_options(arguments: argparse.Namespace) -> StreamOptions:
    return StreamOptions(getattr(arguments, "byte_order", None), getattr(arguments, "until", None))


def _how(arguments: argparse.Namespace) -> dict[str, Any]:
    flavour = getattr(arguments, "flavour", None)
    return {
        "flavour": None if flavour is None else Flavour.named(flavour),
        "allow": tuple(getattr(arguments, "allow", ())),
        "storage_options": tuple(getattr(arguments, "storage_option", ())),
        "templates": template_values(arguments),
        "stream": _stream_options(arguments),
        "allow_functions": tuple(getattr(arguments, "allow_function", ())),
        "question": lambda error: ask(arguments, error),
    }
