"""Tell which other software reads a dataset; exit code 2 if a reader named with --for cannot.

The exit code is 5 if it is not known whether that reader can.
"""

from __future__ import annotations

import argparse

from refbrowser.cli.console import ProgressBar, plain, tell, write_json, write_lines
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_request,
    add_templates,
    add_yes,
    job_control,
    open_dataset,
    said_of_fields,
)
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.tools.readers.request import ReadersRequest

    parser.add_argument("path", metavar="PATH", help="a reference document, store, stream or file")
    add_request(parser, ReadersRequest)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Tell what becomes of the arrays, and return the exit code."""
    from refbrowser.tools.readers.public import readers
    from refbrowser.tools.readers.report.matrix_lines import failure_lines, matrix_lines
    from refbrowser.tools.readers.report.matrix_report import exit_code, matrix_json
    from refbrowser.tools.readers.request import ReadersRequest

    said = said_of_fields(arguments, ReadersRequest)
    with open_dataset(arguments, token) as dataset, ProgressBar("trying readers") as bar:
        matrix = readers(dataset, **said, progress=job_control(token, bar))
    arguments.report_files.write(matrix)
    if arguments.json:
        write_json(matrix_json(matrix))
    else:
        write_lines(plain(line) for line in matrix_lines(matrix))
    for line in failure_lines(matrix):
        tell(f"refbrowser: {plain(line)}")
    return exit_code(matrix)
