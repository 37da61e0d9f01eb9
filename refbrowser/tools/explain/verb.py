"""Explain why an element of an array, or a key, shows as it does."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from refbrowser.cli.console import tell_damage, tell_findings, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_request,
    add_templates,
    add_yes,
    find_array,
    open_dataset,
    request_of,
)
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.model.json_values import json_ready

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.tools.explain.report.explain import Question

    parser.add_argument("path", metavar="PATH", help="what to open")
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

    asked, key = request_of(arguments, Question), arguments.key
    if (key is None) == (not asked.array):
        raise RefbrowserError(ErrorKind.USAGE, "give either KEY, or --array and --index")
    if key is not None and asked.index:
        raise RefbrowserError(ErrorKind.USAGE, "--index belongs to --array, not to a key")
    with open_dataset(arguments, token) as dataset:
        if key is not None:
            _check_key(dataset, key)
            # A key of a chunk begins with the path of its array.
            path = f"/{key.rpartition('/')[0]}"
        else:
            path = find_array(dataset, asked.array).path
        tell_damage(dataset.damage_at(path))
        array = path if key is None else ""
        explanation = explain(dataset, array, asked.index, key=key, progress=JobControl(token))
        tell_findings(dataset.access.memory.warnings)
    arguments.report_files.write(explanation)
    if arguments.json:
        write_json(json_ready(explanation.to_json()))
    else:
        for line in explanation.text().splitlines():
            write_line(line)
    return 0


def _check_key(dataset: Dataset, key: str) -> None:
    """Raise `E_USAGE` where an array has the name of a key."""
    path = f"/{key.strip('/')}"
    if path in dataset.arrays:
        first = ",".join("0" for _ in dataset.array(path).shape)
        message = f"{quoted(path)} is an array, not a key"
        advice = f"give --array {path} --index {first} for one of its elements"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=advice)
