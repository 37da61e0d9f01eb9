"""Files of reports that a verb writes beside what it prints: a page, test cases."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.loading import load

if TYPE_CHECKING:
    from refbrowser.tools.tool import Tool
    from refbrowser.views.reports.html_page import Made

#: Where verbs have what they open.
_OPENED = ("path", "paths", "documents")


def add_report_files(parser: argparse.ArgumentParser, tool: Tool) -> None:
    """Add ``--html`` and ``--junit`` where the row of the tool says what makes them."""
    if tool.page:
        parser.add_argument("--html", metavar="FILE", help="write a report as one page of HTML")
    if tool.cases:
        parser.add_argument(
            "--junit", metavar="FILE", help="write what was found as test cases, in the XML of JUnit"
        )


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The files of reports that are asked for.

    Attributes
    ----------
    html, junit
        Their paths; empty for none.
    command
        The arguments of the command, with its name.
    opened
        What is opened, as the user named it.
    """

    tool: Tool
    html: str
    junit: str
    command: tuple[str, ...]
    opened: tuple[str, ...]

    @property
    def are_wanted(self) -> bool:
        """Whether any is asked for."""
        return bool(self.html or self.junit)

    def write(self, report: Any) -> None:
        """Write what is asked for, of the report that the tool gave.

        Raises
        ------
        RefbrowserError
            `E_IO`: a file cannot be written.
        """
        if not self.are_wanted:
            return
        made = self.made()
        if self.html:
            from refbrowser.views.reports.html_page import page_bytes

            self.write_bytes(self.html, page_bytes(load(self.tool.page)(report), made))
        if self.junit:
            from refbrowser.views.reports.junit import junit_text

            suites = load(self.tool.cases)(report)
            self.write_bytes(self.junit, junit_text(self.tool.name, suites, made).encode())

    def write_error(self, error: RefbrowserError) -> None:
        """Let the test cases say why there is no report."""
        if not self.junit or error.kind is ErrorKind.USAGE:
            return
        from refbrowser.views.reports.junit import error_suite, junit_text

        suites = [error_suite(" ".join(self.opened) or self.tool.name, error)]
        self.write_bytes(self.junit, junit_text(self.tool.name, suites, self.made()).encode())

    def made(self) -> Made:
        """Return how reports of the command come about."""
        from refbrowser.views.reports.html_page import Made
        from refbrowser.views.reports.shareable import shareable_command

        return Made(shareable_command(self.command))

    @staticmethod
    def write_bytes(path: str, data: bytes) -> None:
        """Write one file of a report.

        Raises
        ------
        RefbrowserError
            `E_IO`: it cannot be written.
        """
        from refbrowser.io.files.atomic import write_atomically

        try:
            write_atomically(path, [data])
        except OSError as error:
            message = f"the report cannot be written: {error.strerror or error}"
            raise RefbrowserError(ErrorKind.IO, message, Place(path=path)) from error


def report_files_of(tool: Tool, found: argparse.Namespace, arguments: Sequence[str]) -> ReportFiles:
    """Return the files of reports that are asked for.

    Parameters
    ----------
    arguments
        As they were given, without the names of program and verb.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: one would replace what is opened, or the other; `E_IO`: its folder is not there.
    """
    html, junit = (getattr(found, name, None) or "" for name in ("html", "junit"))
    given = [getattr(found, name, None) or () for name in _OPENED]
    opened = tuple(path for each in given for path in ([each] if isinstance(each, str) else each))
    if html and junit and _is_same(html, junit):
        raise RefbrowserError(ErrorKind.USAGE, "--html and --junit name the same file")
    for option, path in (("--html", html), ("--junit", junit)):
        if path:
            _check(option, path, opened)
    return ReportFiles(tool, html, junit, ("refbrowser", tool.name, *arguments), opened)


def _check(option: str, path: str, opened: Sequence[str]) -> None:
    for each in opened:
        if _is_same(path, each.partition("::/")[0]):
            raise RefbrowserError(ErrorKind.USAGE, f"{option} would replace {quoted(each)}, which is opened")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise RefbrowserError(ErrorKind.IO, f"the folder of {option} is not there", Place(path=path))


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return os.path.abspath(one) == os.path.abspath(other)
