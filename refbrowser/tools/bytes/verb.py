"""Show the range plan of a selection: requests, useful and wasted bytes; or what an array costs to read.

Nothing is read.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from refbrowser.cli.console import plain, tell_damage, write_json, write_json_list, write_line, write_lines
from refbrowser.cli.options import (
    add_array,
    add_json,
    add_reading,
    add_request,
    add_select,
    add_templates,
    add_yes,
    chosen_array,
    open_dataset,
    request_of,
    take_link,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.words import binary_size_text, counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.reading.reader import ReadPlan
    from refbrowser.tools.bytes.report.reading_costs import CostTable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.tools.bytes.request import PlanRequest

    add_array(parser)
    add_select(parser)
    add_request(parser, PlanRequest)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Plan the selection and print the plan, or what reading costs."""
    from refbrowser.engine.jobs import JobControl
    from refbrowser.tools.bytes.public import cost, plan
    from refbrowser.tools.bytes.request import PlanRequest

    request = request_of(arguments, PlanRequest)
    if request.chunks and not request.cost:
        raise RefbrowserError(ErrorKind.USAGE, "--chunks is of no use without --cost")
    link = take_link(arguments)
    with open_dataset(arguments, token) as dataset:
        array, part = chosen_array(dataset, link, arguments)
        if part and request.cost:
            raise RefbrowserError(ErrorKind.USAGE, "a selection is of no use with --cost")
        tell_damage(array.damage)
        if request.cost:
            _tell_cost(cost(dataset, array.path, request.chunks), as_json=arguments.json)
            return 0
        found = plan(dataset, array.path, part, progress=JobControl(token))
    _tell_plan(found, as_json=arguments.json)
    return 0


def _tell_plan(plan: ReadPlan, *, as_json: bool) -> None:
    if as_json:
        counts = {
            "useful_bytes": plan.useful_bytes,
            "wasted_bytes": plan.wasted_bytes,
            "chunks": plan.chunks,
            "missing_chunks": plan.missing_chunks,
        }
        if plan.faulty_chunks:
            counts["faulty_chunks"] = plan.faulty_chunks
        requests = map(list, plan.ranges.each_request())
        write_json_list("requests", requests, counts)
        return
    faulty = f", {plan.faulty_chunks} that cannot be read" if plan.faulty_chunks else ""
    write_line(
        f"{counted_plain(plan.ranges.request_count, 'request')}, "
        f"{binary_size_text(plan.useful_bytes)} useful, {binary_size_text(plan.wasted_bytes)} wasted, "
        f"{counted_plain(plan.chunks, 'chunk')}, "
        f"{plan.missing_chunks} missing{faulty}"
    )
    write_lines(
        f"{plain(url)}  {start} to {'the end' if stop is None else stop}"
        for url, start, stop in plan.ranges.each_request()
    )


def _tell_cost(table: CostTable, *, as_json: bool) -> None:
    if as_json:
        write_json(table.to_json())
    else:
        write_lines(map(plain, table.lines()))
