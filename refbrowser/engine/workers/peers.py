"""Processes that work together: what each is called, and whether they have the same versions."""

from __future__ import annotations

import os
from collections.abc import Mapping

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.version import __version__

#: What is to be done where they have not.
SAME = "install the same versions on the workers"


def versions_here() -> dict[str, str]:
    """Return what is installed here of that which decides about the bytes that are written."""
    import numcodecs
    import numpy as np

    return {"refbrowser": __version__, "numpy": np.__version__, "numcodecs": numcodecs.__version__}


def worker_name() -> str:
    """Return what this process is called in messages where others work with it: host and number."""
    import socket

    return f"{socket.gethostname()}:{os.getpid()}"


def check_versions(worker: str, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Raise `E_SOURCE` where a worker has other versions than those that are wanted; both are named.

    Parameters
    ----------
    worker
        What it is called in the message.
    """
    for name, version in wanted.items():
        if found.get(name) != version:
            raise RefbrowserError(
                ErrorKind.SOURCE,
                f"{worker} has {name} {found.get(name) or 'not at all'}, this program has {name} {version}",
                advice=SAME,
            )
