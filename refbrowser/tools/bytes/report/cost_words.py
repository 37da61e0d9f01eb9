"""Words for what reading costs: cells, heads and details of the table, and its lines on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from refbrowser.errors import RefbrowserError
from refbrowser.tools.bytes.report.live_plan import link_words, seconds_words
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
    head = f"{'≈ ' if cost.is_estimate else ''}{seconds_words(cost.seconds, cost.unknown_sizes)}"
    return head, f"{requests}, {size_text(cost.read_bytes)}, {_share(cost)} used"


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
        f"{size_text(cost.read_bytes)} read, {size_text(cost.wasted_bytes)} of it between ranges",
        f"{size_text(cost.used_bytes)} used by the values asked for ({_share(cost)})",
        f"about {seconds_words(cost.seconds, cost.unknown_sizes)}",
    ]
    if cost.is_estimate and chunking.name != "now":
        lines.append("if each chunk were a separate object, as an export to Zarr writes them")
    return "\n".join(lines)


def footing_words(table: CostTable) -> str:
    """Return on what the numbers stand."""
    ratio = table.ratio
    packed = (
        "stored sizes are not known, assumed uncompressed"
        if ratio is None
        else f"chunks are stored at {ratio:.0%} of their size, assumed the same for others"
    )
    return f"Times by the link ({link_words(table.link)}), without decoding; {packed}."


def cost_json(table: CostTable) -> dict[str, Any]:
    """Return a table as the command line prints it with ``--json``."""

    def told(cost: Cost | RefbrowserError) -> dict[str, Any]:
        return {"error": cost.message} if isinstance(cost, RefbrowserError) else cost.to_json()

    link = table.link
    return {
        "array": table.path,
        "stored_ratio": table.ratio,
        "link": {
            "measured": link.is_measured,
            "latency": link.latency,
            "per_connection": link.per_connection,
            "total": link.total,
        },
        "chunkings": [
            {
                "name": chunking.name,
                "chunks": list(chunking.shape),
                "costs": {reach.name: told(table.cost(chunking, reach)) for reach in table.reaches},
            }
            for chunking in table.chunkings
        ],
    }


def cost_lines(table: CostTable) -> Iterator[str]:
    """Yield a table as lines of plain text."""
    for chunking in table.chunkings:
        yield f"{chunking.title}: chunks {chunking.text}"
        for reach in table.reaches:
            cost = table.cost(chunking, reach)
            name = f"  {reach.title:<12}"
            if isinstance(cost, RefbrowserError):
                yield f"{name} {one_line(cost.message)}"
                continue
            head, _ = cell_words(cost)
            yield (
                f"{name} {head:>10}  {cost.requests:>7} requests  {cost.chunks:>7} chunks  "
                f"{size_text(cost.read_bytes):>8} read, {size_text(cost.wasted_bytes)} wasted, "
                f"{size_text(cost.used_bytes)} used"
            )
    yield footing_words(table)
