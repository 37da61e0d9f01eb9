"""Paths and URLs that a user names: naming them allows that they are read."""

from __future__ import annotations

import os

from refbrowser.io.origins import Origin, local_path, split_url


def names_folder(named: str) -> bool:
    """Tell whether a path or URL is meant as a folder: it ends in a slash."""
    return named.endswith(("/", os.sep))


def named_origin(named: str) -> Origin:
    """Return what may be read once a user named a path or URL: its folder, or the origin of the URL.

    Raises
    ------
    RefbrowserError
        `split_url` refuses it.
    """
    local = local_path(named)
    if local is None:
        return split_url(named).origin
    path = os.path.realpath(local)
    return Origin("file", folder=path if names_folder(local) else os.path.dirname(path))
