"""Gen rules against fsspec's expansion: per row, a window of a huge rule, and look-ups."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from report import figure, heading

from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_faults import find_faults
from refbrowser.references.templates.templates import TemplateSet

TEMPLATES = {"u": "s3://bucket/run1", "f": "{{ c }}.nc"}
LOWERED = {
    "key": "temp/{{ i }}.{{ j }}.0",
    "url": "{{ u }}/{{ '%04d'|format(i // 100) }}.nc",
    "offset": "{{ 8 + (i * 1000000 + j) * 400 }}",
    "length": "400",
}
CLOSURES = {
    "key": "temp/{{ i }}.{{ j }}.{{ '0' if j < 500000 else '1' }}",
    "url": "{{ u }}/{{ f(c='%04x'|format(i // 100)) }}",
    "offset": "{{ (8 + (i * 1000000 + j) * 400)|abs }}",
    "length": "{{ 400 if i else 300 }}",
}
#: Lengths of chunks that no formula gives, and the rule whose offsets are their running sums.
LENGTHS = [number * 7919 % 90_000 + 100_000 for number in range(50_000)]
RUNNING = {
    "key": "temp/{{ i }}.0.0",
    "url": "{{ u }}/{{ '%04d'|format(i // 100) }}.nc",
    "offset": f"{{{{ 8 + {LENGTHS}[:i]|sum }}}}",
    "length": f"{{{{ {LENGTHS}[i] }}}}",
}
#: The same with offsets by a formula.
FORMULA = {**RUNNING, "offset": "{{ 8 + i * 150000 }}", "length": "{{ 100000 + i }}"}
PEER_ROWS = 100
ROWS = 1 << 18
HUGE = {"i": {"stop": 10**6}, "j": {"stop": 10**6}}


def seconds(run: Callable[[], Any], times: int = 5) -> float:
    """Return the median time of `times` runs."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def fsspec_row(fields: dict[str, Any]) -> float:
    """Return the seconds that fsspec takes for one row."""
    from fsspec.implementations.memory import MemoryFileSystem
    from fsspec.implementations.reference import ReferenceFileSystem

    dimensions = {"i": {"stop": 1}, "j": {"stop": PEER_ROWS}}
    document = {
        "version": 1,
        "templates": dict(TEMPLATES),
        "gen": [{**fields, "dimensions": dimensions}],
        "refs": {},
    }

    def run() -> None:
        peer = ReferenceFileSystem(
            document, simple_templates=False, fs=MemoryFileSystem(), skip_instance_cache=True
        )
        assert len(peer.references) == PEER_ROWS

    return seconds(run, 3) / PEER_ROWS


def all_fields(rule: GenRule, start: int, stop: int) -> None:
    """Compute a window as columns, and its texts as Python strings."""
    window = rule.rows(start, stop)
    for name in ("key", "url", "offset", "length"):
        window.column(name)
    assert len(window.keys) == len(window.urls) == stop - start
    assert not window.faults


def per_row(name: str, fields: dict[str, Any], rows: int, aim: str) -> None:
    """Print the time of a row beside fsspec's."""
    templates = TemplateSet(TEMPLATES)
    rule = GenRule({**fields, "dimensions": HUGE}, templates, 0)
    start = 123_456_789_012
    ours = seconds(lambda: all_fields(rule, start, start + rows)) / rows
    figure(f"one row, {name}, with texts as str", ours * 1e6, "us", other=fsspec_row(fields) * 1e6, aim=aim)


def running_sums() -> None:
    """Print the time of a row of running sums beside a formula's, and of a document opened with the list."""
    templates = TemplateSet(TEMPLATES)
    dimensions = {"i": {"stop": len(LENGTHS)}}
    rows = len(LENGTHS)
    sums, formula = (
        GenRule({**fields, "dimensions": dimensions}, templates, 0) for fields in (RUNNING, FORMULA)
    )
    for rule in (sums, formula):
        all_fields(rule, 0, rows)
    ours = seconds(lambda: all_fields(sums, 0, rows), 15) / rows
    affine = seconds(lambda: all_fields(formula, 0, rows), 15) / rows
    figure(
        "one row of 50,000 running sums (other: a formula)",
        ours * 1e6,
        "us",
        other=affine * 1e6,
        aim="ratio 1",
    )
    few = {**RUNNING, "offset": f"{{{{ 8 + {LENGTHS[:PEER_ROWS]}[:j]|sum }}}}", "length": "{{ 7 }}"}
    figure(
        "one row of running sums of 100 (fsspec)",
        ours * 1e6,
        "us",
        other=fsspec_row({**few, "key": "temp/{{ j }}"}) * 1e6,
        aim="ratio at most 1/5000 = 0.0002",
    )
    figure(
        "row of a key in 50,000 running sums", seconds(lambda: sums.find("temp/49999.0.0"), 200) * 1e6, "us"
    )
    numbers = iter(range(10**6))

    def typed(list_too: bool) -> Callable[[], None]:
        def press() -> None:
            number = next(numbers)
            lengths = [number, *LENGTHS[1:]] if list_too else LENGTHS
            changed = {
                **RUNNING,
                "offset": f"{{{{ {number} + {lengths}[:i]|sum }}}}",
                "dimensions": dimensions,
            }
            all_fields(GenRule(changed, templates, 0), 25_000, 25_050)

        return press

    text = seconds(lambda: f"{LENGTHS}", 20)
    figure(
        "50 rows, formula around the list typed",
        (seconds(typed(False), 20) - text) * 1e3,
        "ms",
        aim="at most 16 ms",
    )
    figure("50 rows, another list", (seconds(typed(True), 20) - text) * 1e3, "ms")


def window(name: str, fields: dict[str, Any], aim: str) -> None:
    """Print the time of 50 rows of 10^12, the rule made anew as at a key press, and made before."""
    templates = TemplateSet(TEMPLATES)
    numbers = iter(range(10**6))

    def pressed() -> None:
        changed = {**fields, "length": f"{{{{ 400 + {next(numbers)} }}}}", "dimensions": HUGE}
        all_fields(GenRule(changed, templates, 0), 10**11, 10**11 + 50)

    rule = GenRule({**fields, "dimensions": HUGE}, templates, 0)
    all_fields(rule, 0, 50)
    places = iter(range(10**11, 10**12, 12_345_678))
    tracemalloc.start()
    all_fields(rule, 10**11, 10**11 + 50)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    ready = seconds(lambda: all_fields(rule, place := next(places), place + 50), 200)
    figure(f"50 of 10^12 rows, {name}", ready * 1e3, "ms", aim=aim)
    figure(f"50 of 10^12 rows, {name}, fields parsed anew", seconds(pressed, 200) * 1e3, "ms")
    figure(f"memory of 50 of 10^12 rows, {name}", memory / 1024, "KiB", aim="flat")


def look_ups() -> None:
    """Print the time of a key, of chunks and of faults in 10^12 rows."""
    rule = GenRule({**LOWERED, "dimensions": HUGE}, TemplateSet(TEMPLATES), 0)
    assert rule.find("temp/123456.789012.0") == 123456789012
    figure("row of a key in 10^12 rows", seconds(lambda: rule.find("temp/123456.789012.0"), 2000) * 1e6, "us")
    random = np.random.default_rng(1)
    coords = np.c_[random.integers(0, 10**6, (10**6, 2)), np.zeros(10**6, dtype=np.int64)]
    encoding = ChunkKeyEncoding()
    rows = rule.find_chunks("temp/", coords, encoding)
    chunks = seconds(lambda: rule.find_chunks("temp/", coords, encoding), 3)
    figure("rows of 1,000,000 chunks", chunks * 1e3, "ms")
    figure("references of 1,000,000 rows", seconds(lambda: rule.references(rows), 3) * 1e3, "ms")
    faulty = {**LOWERED, "offset": "{{ i * 3 - j * 7 }}", "dimensions": HUGE}
    templates = TemplateSet(TEMPLATES)
    figure(
        "faults of 10^12 rows counted",
        seconds(lambda: find_faults(GenRule(faulty, templates, 0))) * 1e3,
        "ms",
    )


def main() -> None:
    """Print all figures of gen rules."""
    heading("gen rules (other: fsspec with simple_templates=False)")
    per_row("lowered", LOWERED, ROWS, "ratio at most 1/5000 = 0.0002")
    per_row("not lowered", CLOSURES, ROWS >> 4, "ratio at most 1/100 = 0.01")
    running_sums()
    window("lowered", LOWERED, "at most 1 ms")
    window("not lowered", CLOSURES, "at most 5 ms")
    look_ups()


if __name__ == "__main__":
    main()
