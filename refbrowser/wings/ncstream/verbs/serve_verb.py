"""Offer a dataset as CDM Remote, until interrupted."""

from __future__ import annotations

import argparse
import logging
import sys
import threading

from refbrowser.cli.console import (
    plain,
    tell,
    tell_damage,
    tell_internal_error,
    tell_warning,
    write_json,
    write_line,
)
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_request,
    add_templates,
    add_yes,
    open_dataset,
    request_of,
)
from refbrowser.io.cancel import CancelToken


class _Incidents(logging.Handler):
    """Tells of requests that failed inside as of all internal errors: by a line, without a traceback."""

    def emit(self, record: logging.LogRecord) -> None:
        """Tell of the exception that is being handled."""
        tell_internal_error()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.wings.ncstream.serving.request import ServeRequest

    parser.add_argument("path", metavar="PATH", help="what to open")
    add_request(parser, ServeRequest)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Open the dataset, tell where it is offered, and wait for the end."""
    from refbrowser.wings.ncstream.serving.request import ServeRequest
    from refbrowser.wings.ncstream.serving.service import LOGGER, Service

    request = request_of(arguments, ServeRequest)
    with (
        open_dataset(arguments, token) as dataset,
        Service(dataset, request.host, request.port) as service,
    ):
        if not service.is_loopback:
            tell("refbrowser: other machines can read the dataset too, whoever can reach the address")
        tell_damage(dataset.damage)
        said = service.described()
        if arguments.json:
            losses = [{"path": each.path, "what": each.what} for each in said.losses]
            left_out = [{"path": each.place.path, "what": each.message} for each in said.left_out]
            write_json({"url": service.url, "losses": losses, "left_out": left_out})
        else:
            for loss in said.losses:
                tell(f"refbrowser: not offered as it is: {plain(f'{loss.path}: {loss.what}')}")
            for error in said.left_out:
                tell_warning(error)
            write_line(plain(service.url))
        logging.getLogger(LOGGER).addHandler(_Incidents(logging.WARNING))
        # Who started us waits for it.
        sys.stdout.flush()
        ended = threading.Event()
        forget = token.on_cancel(ended.set)
        ended.wait()
        forget()
    return 0
