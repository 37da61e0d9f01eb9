"""What a format is: how what is named is scored and opened, how datasets are written, what it adds."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.option_fields import declared
from refbrowser.formats.sniffing import HEAD, FileKind, NotThisError, file_kind
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import local_path
from refbrowser.loading import is_there, load, load_if_there

if TYPE_CHECKING:
    from refbrowser.formats.option_fields import Option
    from refbrowser.io.access.access import Access
    from refbrowser.io.fetching.byte_sources import RemoteBytes
    from refbrowser.io.fetching.fetch import Fetcher
    from refbrowser.io.identity import FileIdentity, ObjectIdentity
    from refbrowser.io.origins import ConnectionSettings, Origin
    from refbrowser.references.content.table import ReferenceTable
    from refbrowser.references.document.document import Document


O = TypeVar("O")  # noqa: E741 - options


class Score(IntEnum):
    """How much speaks for a format."""

    NO = 0
    #: It is asked for where all else was tried.
    LAST = 1
    #: Files and folders of this kind may hold it.
    PERHAPS = 2
    #: It may be anything, this among it.
    LIKELY = 3
    #: So it is looked for first where nothing is known of what is named.
    FIRST = 4
    #: What is named is of this format by its kind, its suffix, its first bytes, its place, its scheme.
    KIND = 5
    SUFFIX = 6
    MAGIC = 7
    PLACE = 8
    SCHEME = 9


# What is named, opened, and got


@dataclass(frozen=True, slots=True)
class Seen:
    """What is named, as far as it was looked at.

    Attributes
    ----------
    path
        As the user named it.
    local
        Its path; None of a URL elsewhere.
    is_folder, is_parquet
        Whether it is a folder, and one in the parquet form of references.
    head
        First `HEAD` bytes of a file; None where there is none, or its first bytes are not known yet.
    kind
        What it was found to be; None where that is not known yet.
    """

    path: str
    local: str | None
    is_folder: bool = False
    is_parquet: bool = False
    head: bytes | None = None
    kind: FileKind | None = None

    @classmethod
    def of(cls, path: str) -> Seen:
        """Look at what is at a path, once; of a URL, at how it is spelled.

        Raises
        ------
        RefbrowserError
            A file is there and cannot be read.
        """
        local = local_path(path)
        real = "" if local is None else os.path.realpath(local)
        if local is None or not os.path.exists(real):
            return cls(path, local)
        if os.path.isdir(real):
            from refbrowser.formats.parquet_text import is_parquet_references

            return cls(path, local, is_folder=True, is_parquet=is_parquet_references(real))
        if not os.path.isfile(real):
            return cls(path, local)
        # Not before: with numpy behind it; menus and help have the table alone.
        from refbrowser.io.access.local_files import open_regular

        with open_regular(real) as (descriptor, _):
            head = os.read(descriptor, HEAD)
        return cls(path, local, head=head, kind=file_kind(head))

    def ends(self, suffixes: Sequence[str]) -> bool:
        """Return whether its name ends so; what follows a ``?`` in a URL is no part of that."""
        return self.path.partition("?")[0].lower().endswith(tuple(suffixes))

    def learned(self, error: NotThisError) -> Seen:
        """Return this with what an opening that failed has found."""
        found = error.found
        return self if found is None else replace(self, kind=found.kind, head=found.head or self.head)


@dataclass(frozen=True, slots=True)
class OpenProgress:
    """How far the opening of a document is.

    Attributes
    ----------
    bytes_read
        Of the file, as it is stored.
    total
        Bytes of the file, or None where it is not known.
    rows
        References so far.
    first
        Once, as soon as there are some: the first references, to be shown while the rest is read.
    """

    bytes_read: int
    total: int | None
    rows: int
    first: ReferenceTable | None = None


def _no_fetcher() -> Fetcher:
    raise RefbrowserError(ErrorKind.USAGE, "no reader of URLs is available")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a format gets to open.

    Attributes
    ----------
    path
        As the user named it.
    seen
        What it is, as far as that is known.
    allow
        Origins that may be read from, besides what is named.
    settings
        How to connect, per origin.
    values
        Values for templates; used, never saved.
    options
        What was said of options of opening, by name: as the command line takes them, or values. One that the
        format does not have is an error.
    format
        The name of the format that it is opened as, whatever it looks like; empty where that is found out.
    kept
        The same of what is kept for this path; counts where the format has the option.
    fetcher
        Gives what reads URLs; it is made when it is first wanted.
    token
        Ends the opening.
    report
        Called with how far the reading of a document is.
    progress
        Called with what is done, of how much, and ``note``: what is counted.
    confirm
        Asked about a document of unusual size, with its bytes.
    before_all
        Called with how many references were left, before all of them are read; it may be called long after
        the opening, from any thread, and what it raises is raised to who asked for them.
    found
        What one format has read, and the others that are tried need not read again.
    """

    path: str
    seen: Seen
    allow: tuple[Origin, ...] = ()
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    format: str = ""
    kept: Mapping[str, Any] = field(default_factory=dict)
    fetcher: Callable[[], Fetcher] = _no_fetcher
    token: CancelToken = field(default_factory=CancelToken)
    report: Callable[[OpenProgress], None] = lambda progress: None
    progress: Callable[..., None] = lambda done, total=None, **facts: None
    confirm: Callable[[int], bool] = lambda size: True
    before_all: Callable[[int], None] = lambda left: None
    found: dict[str, RemoteBytes] = field(default_factory=dict)

    def remote(self) -> RemoteBytes:
        """Return what lies at the URL, of which the first bytes are known, and its size.

        Raises
        ------
        RefbrowserError
            It may not or cannot be read.
        """
        from refbrowser.io.access.access import Access
        from refbrowser.io.fetching.byte_sources import FIRST, RemoteBytes
        from refbrowser.io.plan import LOCAL

        if self.path not in self.found:
            access = Access.for_document(self.path, self.allow, self.settings)
            source = RemoteBytes(self.path, access, self.fetcher(), self.token, first=FIRST, link=LOCAL)
            self.found[self.path] = source
        return self.found[self.path]

    def chosen(self, group: type[O]) -> O:
        """Return the options of a group, with the usual values where nothing is said.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: one cannot be read.
        """
        known, said = declared(group), {**self.kept, **self.options}
        return group(**{name: known[name].value(each) for name, each in said.items() if name in known})

    def identity(self) -> FileIdentity | None:
        """Return the state of the file as it is now; None of what is not local."""
        from refbrowser.io.identity import identity_on_disk

        return None if self.seen.local is None else identity_on_disk(self.seen.local)


@dataclass(frozen=True, slots=True)
class Opened:
    """A document, what it may read, and the state of its file when it was read."""

    document: Document
    access: Access
    identity: FileIdentity | ObjectIdentity | None = None


# Formats


@dataclass(frozen=True, slots=True)
class Written:
    """A form in which datasets are written.

    Attributes
    ----------
    name
        As ``refbrowser export --to`` takes it.
    title
        In the dialog.
    suffix
        What the names of targets end with.
    target
        What says how it is exported, as ``module:class``: a `refbrowser.exporting.exporter.Target`.
    layout
        Of a store: what lays out arrays and writes metadata, as ``module:class``: a
        `refbrowser.exporting.layout.StoreLayout`.
    options
        What can be chosen, as ``module:class``: a group of `refbrowser.exporting.option_fields`. Empty where
        there is nothing.
    unit
        What data is written as, in the singular.
    resumes
        Whether an export that was interrupted can be gone on with.
    adds
        Whether what is at the target stays, and gets more: it replaces only what it is told to.
    refers
        Whether chunks stay where they are, and are referred to: it can be made of files without their data.
    codecs
        The field of a row of `refbrowser.codecs.table` that is None where it does not have the codec.
    readers
        Other software that reads it, so that a result can be checked with it.
    rank
        Its place in the dialog: what most look for has the lowest.
    note
        Why there is nothing to choose, without a full stop.
    """

    name: str
    title: str
    suffix: str
    target: str
    layout: str = ""
    options: str = ""
    unit: str = "chunk"
    resumes: bool = False
    adds: bool = False
    refers: bool = False
    codecs: str = "name"
    readers: tuple[str, ...] = ()
    rank: int = 100
    note: str = "This format has no options"

    @property
    def is_installed(self) -> bool:
        """Whether what writes it is there: it may be of a wing that is missing."""
        return is_there(self.target) and is_there(self.layout)

    @property
    def units(self) -> str:
        """What data is written as, in the plural."""
        return f"{self.unit}es" if self.unit.endswith("ch") else f"{self.unit}s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the window shows of documents of a format: a tab, bars over the tabs, or both.

    Attributes
    ----------
    name
        Of the action ``show_<name>``; no two pages share one.
    made
        What makes it, as ``module:function``: from the `refbrowser.app.workspace.workspace.Workspace` to a
        `refbrowser.app.workspace.format_page.FormatPage`. Its module is loaded off the window's thread, when
        the first document of the format is shown.
    title
        Of its tab, with ``&`` before the letter that leads to it in a menu; empty where it has bars alone.
    shortcut, tip
        Of the action that shows its tab.
    """

    name: str
    made: str
    title: str = ""
    shortcut: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format.

    Attributes
    ----------
    name
        As ``info --json`` has it, and `DocumentOrigin.format`.
    title
        What it is called in the window.
    holds
        What can be opened of it, in a sentence.
    opener
        The function that opens it, as ``module:function``: from an `Opening` to what is `Opened`. It raises
        `NotThisError` where what is named is none of it after all; any other error is the answer. Empty for
        a format that is only written.
    suffixes
        What names end with, in small letters.
    begins
        First bytes of its files, each of which tells it.
    sniff
        Gives the `Score` where first bytes do not tell it; by suffix when None.
    noun
        What one of it is called; a file of its title when empty.
    plural
        What files of it are called in dialogs; those of its title when empty.
    files
        Suffixes of its files in dialogs where they are not `suffixes`.
    brief
        A few words of it on the start page and in help; its title and first suffix when empty.
    options
        How it can be opened, as ``module:class``: a dataclass of options (`refbrowser.formats.option_fields`)
        that `Opening.chosen` makes. Empty where there is nothing to say.
    is_data
        Whether it is one of files of data, of which references are made many at a time.
    library
        The script of the process that reads its files, as ``module:name``; empty where nothing is read so.
    writes
        The forms in which it is written.
    parts
        What can be named in its files beside keys, in words.
    facets
        What it adds to the program, by the name of the place: ``module:function``.

        ``complete(document, resources, access, token)`` returns a document that knows what only data tell;
        ``check(dataset, control)`` returns what is wrong with what is stored; ``portable(dataset, control)``
        returns a document that other software follows, and what that lost; ``foreseen(dataset)`` yields of
        that what is known before; ``name(part)`` returns the name that a part of a path stands for;
        ``add_files(target, request, control, compute, told, chosen)`` adds files of data to what is at a
        path, as `refbrowser.append` does; ``python(dataset)`` returns lines of Python that open it with
        software of its own, a `refbrowser.views.plot.snippet_store.StoreCode`; ``python_file(path, group,
        options)`` returns the call with which xarray opens its file; ``append(arguments, token)``, which
        one format has, is the verb ``append`` for its files and returns the exit code.

        Of the window: ``save(workspace, document, given_up)`` writes edits where no file is written, and
        calls ``given_up()`` where the user does not want that after all;
        ``append_files(workspace, document)`` shows the sheet that adds files to what the document was made
        from; ``document(document)`` returns a
        `refbrowser.app.controller.document_files.FormatPart`, what is known of a document beside its
        references; ``commands(host)`` returns a
        `refbrowser.app.workspace.command_group.CommandGroup` that declares its actions.
    pages
        What the window shows of its documents.
    limits
        What limits what comes from its files, as ``module:name``: a `refbrowser.limits.LimitTable`, which
        `refbrowser limits` prints. Empty where those of all formats do.
    is_ours
        Whether its files are of no use to the engines that xarray has.
    """

    name: str
    title: str
    holds: str
    opener: str = ""
    suffixes: tuple[str, ...] = ()
    begins: tuple[bytes, ...] = ()
    sniff: Callable[[Seen], Score] | None = None
    noun: str = ""
    plural: str = ""
    files: tuple[str, ...] = ()
    brief: str = ""
    options: str = ""
    is_data: bool = False
    library: str = ""
    writes: tuple[Written, ...] = ()
    parts: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)
    pages: tuple[Page, ...] = ()
    limits: str = ""
    is_ours: bool = False

    def __post_init__(self) -> None:
        suffix = f" ({self.suffixes[0]})" if self.suffixes else ""
        words: dict[str, Any] = {
            "noun": f"the {self.title} file",
            "plural": f"{self.title} files",
            "files": self.suffixes,
            "brief": f"{self.title}{suffix}",
        }
        for name in (each for each in words if not getattr(self, each)):
            object.__setattr__(self, name, words[name])

    @property
    def is_installed(self) -> bool:
        """Whether what opens it is there: it may be of a wing that is missing."""
        return is_there(self.opener)

    def score(self, seen: Seen) -> Score:
        """Return how much speaks for it, by what is known of what is named."""
        if seen.head is not None and seen.head.startswith(self.begins):
            return Score.MAGIC
        if self.sniff is not None:
            return self.sniff(seen)
        # The first bytes of a file are known: those of another format are not overruled by its name.
        is_told = bool(self.begins) and seen.head is not None
        return Score.SUFFIX if seen.ends(self.suffixes) and not is_told else Score.NO

    def opening_options(self) -> dict[str, Option]:
        """Return the options of opening that it has, by name."""
        options = load_if_there(self.options)
        found = {} if options is None else declared(options)
        return {name: each for name, each in found.items() if each.has(self.name)}

    def open(self, opening: Opening) -> Opened:
        """Open what is named as this format.

        Raises
        ------
        RefbrowserError
            `NotThisError`: it is none of it; else it cannot be read.
        """
        opened: Opened = load(self.opener)(opening)
        return opened

    def prepare(self) -> None:
        """Load what opens files, and the library that reads them: the first one is open sooner then."""
        from refbrowser.codecs.workers.children import prepare_child

        if self.library:
            prepare_child(load(self.library))
        load(self.opener)
