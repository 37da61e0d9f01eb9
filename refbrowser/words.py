"""Counts, sizes and times in words, for everybody who tells them: prompts, reports and panes."""

from __future__ import annotations

from collections.abc import Iterable


def plural(count: int, one: str, many: str = "") -> str:
    """Return a noun as it stands behind a number: ``chunk``, ``chunks``."""
    return one if count == 1 else many or f"{one}s"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, as prompts and reports write it: ``1 chunk``, ``12,000 chunks``."""
    return f"{count:,} {plural(count, one, many)}"


def counted_plain(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, without groups of digits: ``12000 chunks``."""
    return f"{count} {plural(count, one, many)}"


def counted_spaced(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, as the window writes it: with narrow spaces between the thousands."""
    return f"{count_text(count)} {plural(count, one, many)}"


def either(names: Iterable[str]) -> str:
    """Return names as words: ``a, b or c``."""
    *most, last = names
    return f"{', '.join(most)} or {last}"


def span_text(first: str, last: str) -> str:
    """Return from where to where something goes: ``2019-01 to 2019-04``, ``2017-03``."""
    return first if first == last else f"{first} to {last}"


def count_text(count: int) -> str:
    """Return a whole number with narrow spaces between the thousands."""
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


#: Bytes of the largest size that is written out; what damaged files claim may be beyond any number of floats.
_LARGEST = 10**30


def size_text(size: int | None) -> str:
    """Return a number of bytes as people write it (``12.4 MB``); ``unknown`` for None."""
    if size is None:
        return "unknown"
    if size > _LARGEST:
        return "more than 10^18 TB"
    value = float(size)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{size} B" if unit == "B" else f"{value:.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"


def binary_size_text(size: float, unit: str = "B") -> str:
    """Return a number of bytes in powers of 1024, as prompts and reports write it: ``3.2 MiB``."""
    for name in (unit, "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or name == "TiB":
            break
        size /= 1024
    return f"{size:.0f} {name}" if name == unit else f"{size:.1f} {name}"


def time_text(seconds: float) -> str:
    """Return how long something takes, in its two largest units (``4.6 s``, ``3 min 20 s``, ``2 d 4 h``)."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def rounded_time_text(seconds: float) -> str:
    """Return about how long something takes: ``less than a second``, ``12 s``, ``3 min``, ``2.5 h``."""
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def short_time_text(seconds: float) -> str:
    """Return the time that a short thing took, in one unit (``12 ms``)."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s"
