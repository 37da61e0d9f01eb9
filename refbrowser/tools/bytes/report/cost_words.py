"""Words for what reading costs: cells, heads and details of the table."""

from __future__ import annotations

from refbrowser.errors import RefbrowserError
from refbrowser.tools.bytes.report.live_plan import seconds_words
from refbrowser.tools.bytes.report.reading_costs import Chunking, Cost, CostTable, Reach
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, size_text

#: Characters of the dimensions that stand in the head of a row; the tool tips have all of them.
_DETAIL = 20


def chunking_words(chunking: Chunking) -> str:
    """Return the head of a column."""
    return f"{chunking.title}: {' × '.join(map(str, chunking.shape))}"


def row_words(reach: Reach) -> str:
    """Return the head of a row."""
    detail = one_line(reach.detail)
    return f"{reach.title}\n{detail if len(detail) <= _DETAIL else f'{detail[: _DETAIL - 1]}…'}"


def cell_words(cost: Cost | RefbrowserError) -> tuple[str, str]:
    """Return the time of a cell, and the numbers below it."""
    if isinstance(cost, RefbrowserError):
        return "not known", one_line(cost.message)
    requests = counted_spaced(cost.requests, "request")
    if cost.unknown_sizes:
        return cost.time, f"{requests}, sizes not known"
    return cost.time, f"{requests}, {size_text(cost.read_bytes)}, {_share(cost)} used"


def _share(cost: Cost) -> str:
    """Return which share of what is read the values take."""
    used = cost.used_bytes / cost.read_bytes if cost.read_bytes else 1.0
    return f"{used:.0%}" if used >= 0.01 else "under 1%"


def factor_words(cost: Cost | RefbrowserError, now: Cost | RefbrowserError) -> str:
    """Return how many times faster or slower a cost is than the present one; empty where it is alike."""
    if isinstance(cost, RefbrowserError) or isinstance(now, RefbrowserError):
        return ""
    if now.seconds <= 0 or cost.seconds <= 0 or max(now.seconds, cost.seconds) < 1e-3:
        return ""
    ratio = now.seconds / cost.seconds
    if 1 / 1.15 < ratio < 1.15:
        return "as now"
    return f"{_times(ratio)} faster" if ratio > 1 else f"{_times(1 / ratio)} slower"


def _times(ratio: float) -> str:
    return f"{ratio:.2g}×" if ratio < 10 else f"{count_text(round(ratio))}×"


def cell_tip(table: CostTable, chunking: Chunking, reach: Reach) -> str:
    """Return all that is known of a cell."""
    cost = table.cost(chunking, reach)
    if isinstance(cost, RefbrowserError):
        return f"{reach.title}: {one_line(cost.message)}"
    lines = [
        f"{reach.title} ({one_line(reach.detail)}) with chunks {' × '.join(map(str, chunking.shape))}",
        f"{counted_spaced(cost.requests, 'request')} for {counted_spaced(cost.chunks, 'chunk')}",
    ]
    if cost.unknown_sizes:
        lines.append("stored sizes are not known, nor how long reading them takes")
    else:
        lines += [
            f"{size_text(cost.read_bytes)} read, {size_text(cost.wasted_bytes)} of it between ranges",
            f"{size_text(cost.used_bytes)} used by the values asked for ({_share(cost)})",
            f"about {seconds_words(cost.seconds)}",
        ]
    if cost.is_estimate and chunking.name != "now":
        lines.append("if each chunk were a separate object, as an export to Zarr writes them")
    return "\n".join(lines)
