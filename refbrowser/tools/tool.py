"""What a tool is: one row, from which its verb, its Python function, its dock and its commands follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from refbrowser.loading import is_there


class Heading(StrEnum):
    """Under which the help of the command line lists a tool, in its order."""

    LOOK = "look at a dataset"
    READ = "read values and bytes"
    CHECK = "check files and references"
    MAKE = "make and change references"
    WRITE = "write other formats"
    PROGRAM = "the program itself"


class Report(Protocol):
    """What the run of a tool gives; a value that is shown as lines and as JSON."""

    def lines(self) -> Iterable[str]:
        """Return it as lines of text."""

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""

    def exit_code(self) -> int:
        """Return the exit code of the command line: 0 where all is well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dock:
    """A dock of a tool.

    Attributes
    ----------
    title
        Of its tab, and of its command in the menu *Tools* where the tool has no `commands`; with ``&`` before
        the letter that leads to the latter.
    hint
        What it says while it has nothing to show.
    name
        Of the dock, and of its command; that of the tool where empty.
    after
        Of a dock of ours: the name of the dock behind which it has its tab; empty for the last at the bottom,
        as those of other packages are.
    shortcut
        Of its command in the menu.
    made
        What makes its pane, as ``module:function``, from the
        `refbrowser.app.workspace.workspace.Workspace`; its module is loaded off the window's thread. Empty
        for a pane that is made of the tool's request and report.
    """

    title: str
    hint: str
    name: str = ""
    after: str = ""
    shortcut: str = ""
    made: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool; modules, functions and classes are named as text, and loaded when they are first used.

    Attributes
    ----------
    name
        Of its verb, and of its Python function.
    heading
        Under which the help lists it.
    words
        What it does, in a few words that begin with a verb.
    examples
        Commands that run on the bundled sample.
    verb
        The module of its verb: `add_arguments`, `run`, and a docstring that is its help. Empty where its
        request says all.
    public
        What ``import refbrowser`` gives under its name, as ``module:function``. Empty for nothing, or where
        its request says all.
    request
        What can be asked of it, as ``module:class``: a dataclass whose fields are options
        (`refbrowser.formats.option_fields`).
    run
        What does it, as ``module:function``: from a request, a dataset and a
        `refbrowser.engine.jobs.JobControl` to a `Report`.
    page
        What makes a page of its report, as ``module:function``: from the report to a
        `refbrowser.views.reports.html_page.ReportPage`. With it the verb has ``--html``.
    cases
        What makes test cases of its report, as ``module:function``: from the report to
        `refbrowser.views.reports.junit.Suite` values. With it the verb has ``--junit``
        and ``--annotations``.
    synonyms
        What users of other programs call the verb.
    renamed
        Options of the verb that have another name now; the old ones go on working, with a note.
    short_forms
        Short forms of options that have a value.
    commands
        Its commands in the window, as ``module:class``: a
        `refbrowser.app.workspace.command_group.CommandGroup`. Empty for those that show its docks.
    docks
        Its docks.
    """

    name: str
    heading: Heading
    words: str
    examples: tuple[str, ...] = ()
    verb: str = ""
    public: str = ""
    request: str = ""
    run: str = ""
    page: str = ""
    cases: str = ""
    synonyms: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    short_forms: Mapping[str, str] = field(default_factory=dict)
    commands: str = ""
    docks: tuple[Dock, ...] = ()

    @property
    def is_installed(self) -> bool:
        """Whether what runs it is there: it may be of a wing that is missing."""
        return is_there(self.verb or self.run)
