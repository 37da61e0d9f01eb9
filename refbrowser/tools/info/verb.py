"""Show the hierarchy of a dataset: groups, dimensions, arrays, problems.

PATH::/ocean shows the group or array /ocean alone, with what is below it.
"""

from __future__ import annotations

import argparse

from refbrowser.cli.console import StageBar, finding_line, plain, tell, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_path,
    add_reading,
    add_templates,
    add_yes,
    job_control,
    open_dataset,
    take_link,
)
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_path(parser)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Open the dataset and describe it."""
    from refbrowser.tools.info.public import description_of

    link = take_link(arguments)
    with open_dataset(arguments, token) as dataset:
        link = link.among(lambda path: path in dataset)
        if link.selection:
            tell(f"refbrowser: note: info is of whole arrays, whatever part of them [{link.selection}] is")
        with StageBar({"listing": ""}) as bar:
            found = description_of(dataset, job_control(token, bar), link.node)
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
