"""What opens a dataset in the window, from a page of a report."""

from __future__ import annotations

import os
from collections.abc import Iterator

from refbrowser.engine.links import Link
from refbrowser.errors import RefbrowserError
from refbrowser.io.origins import scheme_of
from refbrowser.markup import Markup, element


def window_link(path: str, node: str = "", selection: str = "") -> Iterator[tuple[str, Markup]]:
    """Yield the row of a page that opens a dataset, or what is in it, where refbrowser is installed.

    None for what has no path or URL that a link could lead to. The home folder is that of whoever opens it.
    """
    if scheme_of(path) is None:
        if not os.path.lexists(path):
            return
        home, path = os.path.expanduser("~").rstrip(os.sep), os.path.abspath(path)
        if home and path.startswith(home + os.sep):
            path = f"~/{path[len(home) + 1 :]}"
    link = Link(path, node, selection).without_secrets()
    try:
        # What would be refused is not offered.
        url = Link.from_url(link.url).url
    except RefbrowserError:
        return
    yield "Open", element("a", "in refbrowser", href=url)
