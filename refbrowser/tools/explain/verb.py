"""Explain why an element of an array, or a key, shows as it does."""

from __future__ import annotations

import argparse
from dataclasses import replace
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
    from refbrowser.tools.explain.report.explain import Question


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
    from refbrowser.engine.dataset import damage_of
    from refbrowser.tools.explain.report.explain import Question, explain

    question = replace(request_of(arguments, Question), key=arguments.key)
    if (question.key is None) == (not question.array):
        raise RefbrowserError(ErrorKind.USAGE, "give either KEY, or --array and --index")
    if question.key is not None and question.index:
        raise RefbrowserError(ErrorKind.USAGE, "--index belongs to --array, not to a key")
    with open_dataset(arguments, token) as dataset:
        question = _found(question, dataset)
        # A key of a chunk begins with the path of its array.
        path = question.array or f"/{(question.key or '').rpartition('/')[0]}"
        tell_damage(damage_of(dataset, (path,)))
        explanation = explain(dataset, question, token)
        tell_findings(dataset.access.memory.warnings)
    if arguments.json:
        write_json(json_ready(explanation.to_json()))
    else:
        for line in explanation.text().splitlines():
            write_line(line)
    return 0


def _found(question: Question, dataset: Dataset) -> Question:
    """Return a question with the path of its array, and an index that counts from the beginning."""
    if question.key is not None:
        path = f"/{question.key.strip('/')}"
        if path in dataset.arrays:
            first = ",".join("0" for _ in dataset.array(path).shape)
            message = f"{quoted(path)} is an array, not a key"
            advice = f"give --array {path} --index {first} for one of its elements"
            raise RefbrowserError(ErrorKind.USAGE, message, advice=advice)
        return question
    array, index = find_array(dataset, question.array), question.index
    shape = array.shape if len(array.shape) == len(index) else index
    counted = tuple(at + size if at < 0 else at for at, size in zip(index, shape, strict=True))
    return replace(question, array=array.path, index=counted)
