"""Files of reports that a verb writes beside what it prints: a page, test cases."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.loading import load

if TYPE_CHECKING:
    from refbrowser.tools.tool import Tool
    from refbrowser.views.reports.html_page import Made
    from refbrowser.views.reports.junit import Suite

#: Where verbs have what they open.
_OPENED = ("path", "paths", "documents")
#: How each kind of report begins: an earlier one is replaced, and nothing else.
_BEGINS = {
    "html": rb'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    rb'<meta name="generator" content="refbrowser">',
    "junit": rb'<\?xml [^>]*\?>\n<testsuites name="refbrowser ',
    "annotations": rb"::(error|warning) [^\n]*title=",
}
_HEAD = 512


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The files of reports that are asked for.

    Attributes
    ----------
    html, junit, annotations
        Their paths; empty for none.
    command
        The arguments of the command, with its name.
    opened
        What is opened, as the user named it.
    """

    tool: Tool
    html: str
    junit: str
    annotations: str
    command: tuple[str, ...]
    opened: tuple[str, ...]

    @classmethod
    def of(cls, tool: Tool, found: argparse.Namespace, arguments: Sequence[str]) -> ReportFiles:
        """Return the files of reports that are asked for.

        Parameters
        ----------
        arguments
            As they were given, without the names of program and verb.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: one would replace what is opened, the other, or what is no report; `E_IO`: its folder
            is not there.
        """
        files = {name: getattr(found, name, None) or "" for name in _BEGINS}
        given = [getattr(found, name, None) or () for name in _OPENED]
        opened = tuple(path for each in given for path in ([each] if isinstance(each, str) else each))
        for (one, path), (other, beside) in combinations(files.items(), 2):
            if path and beside and _is_same(path, beside):
                raise RefbrowserError(ErrorKind.USAGE, f"--{one} and --{other} name the same file")
        for name, path in files.items():
            if path:
                _check(f"--{name}", path, opened)
                _check_replaceable(f"--{name}", path, _BEGINS[name])
        for path in getattr(found, "report", None) or ():
            _check("--report", path, opened)
        return cls(tool, **files, command=("refbrowser", tool.name, *arguments), opened=opened)

    @property
    def are_wanted(self) -> bool:
        """Whether any is asked for."""
        return bool(self.html or self.junit or self.annotations)

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
        if self.junit or self.annotations:
            self._write_suites(lambda: load(self.tool.cases)(report))

    def write_error(self, error: RefbrowserError) -> None:
        """Let the test cases say why there is no report."""
        if not (self.junit or self.annotations) or error.kind is ErrorKind.USAGE:
            return
        from refbrowser.views.reports.junit import error_suite

        self._write_suites(lambda: [error_suite(" ".join(self.opened) or self.tool.name, error)])

    def _write_suites(self, made: Callable[[], Iterable[Suite]]) -> None:
        """Write cases in each form that is asked for; they are made for each, as they may be many."""
        if self.junit:
            from refbrowser.views.reports.junit import junit_text

            self.write_bytes(self.junit, junit_text(self.tool.name, made(), self.made()).encode())
        if self.annotations:
            from refbrowser.views.reports.annotations import annotation_lines

            lines = "".join(f"{line}\n" for line in annotation_lines(made()))
            self.write_bytes(self.annotations, lines.encode("utf-8", "replace"))

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


def _check(option: str, path: str, opened: Sequence[str]) -> None:
    for each in opened:
        if _is_same(path, each.partition("::/")[0]):
            raise RefbrowserError(ErrorKind.USAGE, f"{option} would replace {quoted(each)}, which is opened")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise RefbrowserError(ErrorKind.IO, f"the folder of {option} is not there", Place(path=path))


def _check_replaceable(option: str, path: str, begins: bytes) -> None:
    """Raise where something else than an earlier report has the name: one may have been forgotten."""
    if not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    if head and not re.match(begins, head):
        message = f"{option} would replace {quoted(path)}, which is no such report"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="name another file, or remove this one")


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return os.path.abspath(one) == os.path.abspath(other)
