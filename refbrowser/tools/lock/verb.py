"""Write the lock of a reference document: what is known of each file, to notice when one is replaced."""

from __future__ import annotations

import argparse

from refbrowser.cli.locks import tell_locks, write_lock
from refbrowser.cli.options import (
    add_json,
    add_opening,
    add_origins,
    add_request,
    add_skip_bad,
    add_templates,
    add_yes,
    opening_of,
    request_of,
)
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.engine.locking import LockRequest

    parser.add_argument("path", metavar="DOC", help="a reference document")
    add_request(parser, LockRequest)
    add_json(parser)
    add_opening(parser)
    add_origins(parser)
    add_skip_bad(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Write the lock and report."""
    from refbrowser.engine.locking import LockRequest

    request = request_of(arguments, LockRequest, skip_bad=arguments.skip_bad)
    written = write_lock(opening_of(arguments.path, arguments), request, token)
    return tell_locks([written], arguments)
