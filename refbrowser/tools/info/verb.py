"""Show the hierarchy of a dataset: groups, dimensions, arrays, problems."""

from __future__ import annotations

import argparse

from refbrowser.cli.console import StageBar, finding_line, plain, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_templates,
    add_yes,
    job_control,
    open_dataset,
)
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="PATH", help="what to open")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Open the dataset and describe it."""
    from refbrowser.tools.info.public import description_of

    with open_dataset(arguments, token) as dataset:
        with StageBar({"listing": ""}) as bar:
            found = description_of(dataset, job_control(token, bar))
        arguments.report_files.write(found)
        # Only the form that is printed is made.
        if arguments.json:
            write_json(found.to_json())
            return 0
        for line in found.text:
            write_line(plain(line))
    if found.problems:
        write_line("")
    for finding in found.problems:
        write_line(finding_line(finding))
    return 0
