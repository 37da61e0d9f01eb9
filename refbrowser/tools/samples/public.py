"""Public datasets of the field, listed by a function."""

from __future__ import annotations

from refbrowser.tools.samples.public_sets import PUBLIC_SETS, PublicSet


def samples() -> tuple[PublicSet, ...]:
    """Return public datasets of the field; nothing is asked of them.

    Examples
    --------
    >>> import refbrowser
    >>> [each.name for each in refbrowser.samples() if each.format == "Icechunk"]
    ['era5-icechunk', 'aifs']
    """
    return PUBLIC_SETS
