"""Open the window on documents, or draw it to a picture."""

from __future__ import annotations

import argparse
import os
import re
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser import __version__
from refbrowser.cli.options import add_reading, add_templates, said_of_opening, template_values
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.loading import load

if TYPE_CHECKING:
    from refbrowser.io.running_window import Start

#: As preferences call them, with hyphens.
_THEMES = ("light", "dark", "contrast-light", "contrast-dark")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command without a verb."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="documents to open, or links: PATH::/array[0,:,:]"
    )
    parser.add_argument("--version", action="version", version=f"refbrowser {__version__}")
    parser.add_argument("--screenshot", metavar="FILE", help="draw the window to FILE, without a display")
    parser.add_argument("--array", metavar="ARRAY", help="select and plot this array")
    parser.add_argument(
        "--new-window", action="store_true", help="open a window of its own, not in the one that is open"
    )
    parser.add_argument("--size", metavar="SIZE", help="size of the window in pixels, for example 1280x800")
    parser.add_argument("--theme", choices=_THEMES, help="colours of the window")
    add_reading(parser)
    add_templates(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Open the window and return its exit code."""
    shared = None
    if _may_be_shared(arguments):
        from refbrowser.io.running_window import address, hand_over

        shared = address()
        if hand_over(_start(arguments), shared):
            return 0
    # Named as text, as verbs are: the window is above the command line, which the verbs of its tools import.
    run_window: Callable[..., int] = load("refbrowser.app.shell.launch:run")
    settings = {}
    if arguments.storage_option:
        # Not before the first paint where it is not needed.
        from refbrowser.io.origins import parse_storage_options

        settings = parse_storage_options(arguments.storage_option)
    # There is nothing to cancel in order: Ctrl+C in the terminal ends the window, and so does SIGTERM.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    return run_window(
        arguments.paths,
        screenshot=arguments.screenshot,
        array=arguments.array,
        size=_size(arguments.size),
        template_values=template_values(arguments),
        allow=tuple(arguments.allow),
        allow_codecs=tuple(arguments.allow_codec),
        settings=settings,
        scheme=arguments.theme and arguments.theme.replace("-", "_"),
        options=said_of_opening(arguments),
        shared=shared,
    )


def _may_be_shared(arguments: argparse.Namespace) -> bool:
    """Whether all windows would do: nothing was said that holds for one process alone, as permissions do."""
    said = (
        *(arguments.new_window, arguments.screenshot, arguments.size, arguments.theme, arguments.allow),
        *(arguments.allow_codec, arguments.storage_option, arguments.template, said_of_opening(arguments)),
    )
    return not any(said) and arguments.stale == "refuse"


def _start(arguments: argparse.Namespace) -> Start:
    """Return what is handed over to the window that is open, which may run in another folder."""
    from refbrowser.io.running_window import Start

    token = os.environ.get("XDG_ACTIVATION_TOKEN") or os.environ.get("DESKTOP_STARTUP_ID", "")
    return Start(tuple(map(_whole, arguments.paths)), arguments.array or "", token)


def _whole(target: str) -> str:
    """Return a target with its path made absolute."""
    path, inside = target, ""
    if ":" in target:
        from refbrowser.engine.links import Link
        from refbrowser.io.origins import scheme_of

        if Link.is_from_outside(target):
            # It is looked at by the window, which asks.
            return target
        link = Link.parse(target)
        path, inside = link.path, str(link)[len(link.path) :]
        if scheme_of(path) is not None:
            return target
    return os.path.abspath(os.path.expanduser(path)) + inside


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"([1-9][0-9]{1,4})[xX]([1-9][0-9]{1,4})", text)
    if match is None:
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} is not a size like 1280x800")
    return int(match[1]), int(match[2])
