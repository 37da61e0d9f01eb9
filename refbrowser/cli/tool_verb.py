"""The verb of a tool that has none of its own: made of the fields of its request."""

from __future__ import annotations

import argparse

from refbrowser.cli.console import ProgressBar, plain, write_json, write_lines
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_request,
    add_templates,
    job_control,
    open_dataset,
    request_of,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.loading import load
from refbrowser.tools.tool import Report, Tool


class ToolVerb:
    """Opens a dataset, runs the tool on it, and tells its report."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.__doc__ = f"{tool.words[:1].upper()}{tool.words[1:]}."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the dataset, the fields of the request, and what every verb that reads takes."""
        parser.add_argument("path", metavar="PATH", help="a reference document, store, stream or file")
        add_request(parser, load(self._tool.request))
        add_json(parser)
        add_reading(parser)
        add_templates(parser)

    def run(self, arguments: argparse.Namespace, token: CancelToken) -> int:
        """Run the tool, tell its report, and return its exit code."""
        request = request_of(arguments, load(self._tool.request))
        with open_dataset(arguments, token) as dataset, ProgressBar(self._tool.name) as bar:
            report: Report = load(self._tool.run)(request, dataset, job_control(token, bar))
        arguments.report_files.write(report)
        if arguments.json:
            write_json(report.as_json())
        else:
            write_lines(plain(line) for line in report.lines())
        return report.exit_code()
