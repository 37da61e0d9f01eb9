"""Filtering and sorting 1,000,000 references, and a gen rule of 10^12 rows."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

from documents import write_large
from report import figure, heading

import refbrowser
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.views.reference_queries.found_rows import FoundRows, RangeOfRows
from refbrowser.views.reference_queries.matched_rows import matched_rows
from refbrowser.views.reference_queries.reference_query import ReferenceQuery
from refbrowser.views.reference_queries.sorted_rows import sorted_rows
from refbrowser.views.references import COLUMNS

RULE = {
    "key": "t/{{f}}.{{i}}",
    "url": "s3://b/{{f}}.nc",
    "offset": "{{i * 4096}}",
    "length": "4096",
    "dimensions": {"f": {"stop": 1000}, "i": {"stop": 10**9}},
}


def seconds(run: Callable[[], Any]) -> float:
    """Return the least of three."""
    found = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    """Print the figures; the other is a loop over the references as Python objects, once they are read."""
    heading(
        "Filtering and sorting 1,000,000 references (other: a loop over them as Python's json reads them)"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = write_large(Path(folder) / "large.json", 1_000_000, (100, 100, 100))
        content = json.loads(path.read_bytes())
        refs = [
            (key, value) for key, value in content.get("refs", content).items() if isinstance(value, list)
        ]
        with refbrowser.open(path) as dataset:
            state = dataset.document
            size = sorted(value[2] for _key, value in refs if len(value) == 3)[len(refs) // 2]
            cases: dict[str, Callable[[str, list[Any]], bool]] = {
                f"size>{size}": lambda key, value: len(value) == 3 and value[2] > size,
                "url:0": lambda key, value: "0" in value[0],
                "key:*.7.7": lambda key, value: key.endswith(".7.7"),
            }
            for text, holds in cases.items():
                query = ReferenceQuery.parse(text)
                ours = seconds(lambda query=query: matched_rows(state, query, None))
                theirs = seconds(lambda holds=holds: [key for key, value in refs if holds(key, value)])
                figure(text, ours, "s", other=theirs, aim="at most 1 s")
            whole = FoundRows((RangeOfRows(0, state.expansion.rows),))
            for column in COLUMNS[1:4]:
                order = attrgetter(column.order)
                ours = seconds(lambda order=order: sorted_rows(state, whole, order, is_descending=False))
                figure(f"sorted by {column.title.lower()}", ours, "s")
    rule = ReferenceDocument.of(json.dumps({"version": 1, "refs": {}, "gen": [RULE]}).encode())
    for text in ("size=4096", "url:b/77.nc offset<1MB", "offset>=4TB"):
        ours = seconds(lambda text=text: matched_rows(rule, ReferenceQuery.parse(text), None))
        figure(f"10^12 rows of a rule: {text}", ours * 1e3, "ms")


if __name__ == "__main__":
    main()
