"""Explain why an element of an array, or a key, shows as it does."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from refbrowser.cli.console import tell_damage, tell_findings, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_path,
    add_reading,
    add_request,
    add_templates,
    add_yes,
    find_array,
    open_dataset,
    request_of,
    selection_of,
    take_link,
)
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.model.json_values import json_ready

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.links import Link


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.tools.explain.report.explain import Question

    add_path(parser)
    parser.add_argument("key", metavar="KEY", nargs="?", help="for example temp/0.0.0 or temp/.zattrs")
    add_request(parser, Question)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Read the one chunk and explain."""
    from refbrowser.engine.jobs import JobControl
    from refbrowser.tools.explain.public import explain
    from refbrowser.tools.explain.report.explain import Question

    asked, key, link = request_of(arguments, Question), arguments.key, take_link(arguments)
    if (key is not None) + bool(asked.array) + bool(link.node) != 1:
        raise RefbrowserError(
            ErrorKind.USAGE, "give either KEY, or --array and --index, or PATH::/array[INDEX]"
        )
    if link.selection and asked.index:
        raise RefbrowserError(ErrorKind.USAGE, "an index is given twice: with PATH, and with --index")
    if key is not None and asked.index:
        raise RefbrowserError(ErrorKind.USAGE, "--index belongs to --array, not to a key")
    with open_dataset(arguments, token) as dataset:
        if key is not None:
            _check_key(dataset, key)
            # A key of a chunk begins with the path of its array.
            path, index = f"/{key.rpartition('/')[0]}", asked.index
        elif link.node:
            path, index = _element(dataset, link.among(lambda path: path in dataset), asked.index, token)
        else:
            path, index = find_array(dataset, asked.array).path, asked.index
        tell_damage(dataset.damage_at(path))
        array = path if key is None else ""
        explanation = explain(dataset, array, index, key=key, progress=JobControl(token))
        tell_findings(dataset.access.memory.warnings)
    arguments.report_files.write(explanation)
    if arguments.json:
        write_json(json_ready(explanation.to_json()))
    else:
        for line in explanation.text().splitlines():
            write_line(line)
    return 0


def _element(
    dataset: Dataset, link: Link, index: tuple[int, ...], token: CancelToken
) -> tuple[str, tuple[int, ...]]:
    """Return the array and the element that a link leads to; `index` where the link says none."""
    array = find_array(dataset, link.node)
    if not link.selection:
        return array.path, index
    axes = selection_of(array, link.selection, token).axes
    if any(len(taken) != 1 for taken in axes):
        message = f"{quoted(link.selection)} is not one element of {quoted(array.path)}"
        advice = "an explanation is of one element: give an index for each dimension"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=advice)
    return array.path, tuple(taken[0] for taken in axes)


def _check_key(dataset: Dataset, key: str) -> None:
    """Raise `E_USAGE` where an array has the name of a key."""
    path = f"/{key.strip('/')}"
    if path in dataset.arrays:
        first = ",".join("0" for _ in dataset.array(path).shape)
        message = f"{quoted(path)} is an array, not a key"
        advice = f"give --array {path} --index {first} for one of its elements"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=advice)
