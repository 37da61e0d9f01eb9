"""Show the range plan of a selection: requests, useful and wasted bytes. Nothing is read."""

from __future__ import annotations

import argparse

from refbrowser.cli.console import plain, size_text, tell_damage, write_json_list, write_line, write_lines
from refbrowser.cli.options import add_json, add_reading, add_templates, add_yes, find_array, open_dataset
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="PATH", help="what to open")
    parser.add_argument("array", metavar="ARRAY", help="path of the array, for example /ocean/temp")
    parser.add_argument("--select", default="", metavar="TEXT", help="for example 0,:,10:20:2")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Plan the selection and print the plan."""
    with open_dataset(arguments, token) as dataset:
        array = find_array(dataset, arguments.array)
        tell_damage(array.damage)
        plan = array.plan(array.selection(arguments.select))
    if arguments.json:
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
        return 0
    faulty = f", {plan.faulty_chunks} that cannot be read" if plan.faulty_chunks else ""
    write_line(
        f"{plan.ranges.request_count} requests, {size_text(plan.useful_bytes)} useful, "
        f"{size_text(plan.wasted_bytes)} wasted, {plan.chunks} chunks, {plan.missing_chunks} missing{faulty}"
    )
    write_lines(
        f"{plain(url)}  {start} to {'the end' if stop is None else stop}"
        for url, start, stop in plan.ranges.each_request()
    )
    return 0
