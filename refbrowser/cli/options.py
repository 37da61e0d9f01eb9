"""Arguments that several verbs share, and opening what they name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import MISSING, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from refbrowser.cli.console import ProgressBar, StageBar, say, tell
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.option_fields import Kind, Option, declared, groups_within, usual
from refbrowser.formats.registry import formats, opening_options
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.engine.compute import Compute
    from refbrowser.engine.dataset import Array, Dataset
    from refbrowser.engine.jobs import JobControl
    from refbrowser.engine.links import Link
    from refbrowser.engine.opening import OpenRequest
    from refbrowser.exporting.option_fields import ExportOptions
    from refbrowser.formats.format import Written
    from refbrowser.model.selection import Selection
    from refbrowser.tools.tool import Tool

R = TypeVar("R")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="JSON on standard output")


def add_report_files(parser: argparse.ArgumentParser, tool: Tool) -> None:
    """Add the options of reports, where the row of the tool says what makes these."""
    if tool.page:
        parser.add_argument("--html", metavar="FILE", help="write a report as one page of HTML")
    if tool.cases:
        parser.add_argument(
            "--junit", metavar="FILE", help="write what was found as test cases, in the XML of JUnit"
        )
        parser.add_argument(
            "--annotations", metavar="FILE", help="write what was found as annotations of GitHub Actions"
        )


#: Options that name files of reports.
REPORT_FILES = ("html", "junit", "annotations", "report")


class NoReportFiles:
    """Stands for the files of reports where none is asked for; nothing that makes them is loaded."""

    are_wanted = False

    def write(self, report: Any) -> None:
        """Write nothing."""

    def write_error(self, error: RefbrowserError) -> None:
        """Write nothing."""


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow``."""
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let the document read from this origin: scheme, host and port, or a folder (repeatable)",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add what every verb that reads data takes."""
    add_opening(parser)
    add_origins(parser)
    add_stale(parser)


def add_stale(parser: argparse.ArgumentParser) -> None:
    """Add what becomes of files that are not those of the lock."""
    parser.add_argument(
        "--stale",
        choices=("refuse", "allow"),
        default="refuse",
        help="files that are not those of the lock beside the document (DOC.lock.json): fail where their "
        "bytes are needed (refuse, the usual), or warn of each and read it (allow)",
    )


def add_opening(parser: argparse.ArgumentParser) -> None:
    """Let the options of opening be added that single formats have, once something asks for more."""
    parser.set_defaults(opening={})


def add_further(parser: argparse.ArgumentParser) -> None:
    """Add to a verb that opens the options of opening that single formats have.

    Raises
    ------
    RefbrowserError
        Another package has an option whose name means something else here.
    """
    if parser.get_default("opening") is None:
        return
    known = opening_options(formats())
    for each in known.values():
        add_option(parser, each)
    parser.set_defaults(opening=known)


def add_option(group: argparse._ActionsContainer, option: Option, *, is_required: bool = False) -> None:
    """Add one option of opening or of an export.

    Raises
    ------
    RefbrowserError
        Another package has an option whose name means something else here.
    """
    how: dict[str, Any] = {"metavar": option.metavar or None}
    if option.kind is Kind.EITHER:
        how = {"action": argparse.BooleanOptionalAction, "default": None}
    elif option.means is not None:
        how = {"action": "store_true"}
    elif option.many:
        how |= {"action": "extend", "nargs": "+", "default": []}
    elif option.kind in (Kind.TEXTS, Kind.ARRAYS):
        how |= {"action": "append", "default": []}
    elif option.kind is Kind.NUMBER:
        how["type"] = int
    elif option.kind is Kind.CHOICE and not option.metavar:
        how["choices"] = [item.text for item in option.items]
    names = (option.short, option.flag) if option.short else (option.flag,)
    try:
        added = group.add_argument(
            *names, help=option.words.replace("%", "%%"), dest=_dest(option), required=is_required, **how
        )
    except argparse.ArgumentError:
        message = f"{option.flag} of another package is an option of ours"
        raise RefbrowserError(ErrorKind.FORMAT, message) from None
    # What a shell offers behind it is found out for those who ask.
    vars(added)["option"] = option


def add_request(parser: argparse.ArgumentParser, request: type, *names: str) -> None:
    """Add the fields of a tool's request, or some of them, one option each, and groups of options in it.

    One without a usual value has to be given.
    """
    options, groups = declared(request), groups_within(request)
    for name in names or [each.name for each in fields(request)]:
        if name in groups:
            add_request(parser, groups[name])
        elif name in options:
            each = options[name]
            needed = each.needed or usual(request, name) is MISSING
            add_option(_below(parser, each.heading), each, is_required=needed)


def _below(parser: argparse.ArgumentParser, heading: str) -> argparse._ActionsContainer:
    """Return where the help lists options: below a heading, or among the first ones."""
    if not heading:
        return parser
    known = {group.title: group for group in parser._action_groups}
    return known.get(heading) or parser.add_argument_group(heading)


def request_of(arguments: argparse.Namespace, request: type[R], **given: Any) -> R:
    """Return the request that the arguments say, with the usual values where they say nothing.

    Parameters
    ----------
    given
        Values of fields that are no options.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: what is said of an option cannot be read.
    """
    within: dict[str, Any] = {
        name: request_of(arguments, each) for name, each in groups_within(request).items()
    }
    return request(**{**within, **given}, **said_of_fields(arguments, request))


def said_of_fields(arguments: argparse.Namespace, request: type) -> dict[str, Any]:
    """Return the values of the fields of a request of which something is said, by name.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: what is said of an option cannot be read.
    """
    known = declared(request)
    said = {name: value for name, each in known.items() if (value := said_of(arguments, each)) is not None}
    return {name: known[name].value(value) for name, value in said.items()}


def _dest(option: Option) -> str:
    return f"option {option.flag}"


def said_of(arguments: argparse.Namespace, option: Option) -> Any:
    """Return what is said of an option; None where nothing is."""
    found = getattr(arguments, _dest(option), None)
    if found is None or found == [] or (option.means is not None and not found):
        return None
    if isinstance(found, list) and option.kind not in (Kind.TEXTS, Kind.ARRAYS):
        # Another format takes the option several times.
        found = found[-1]
    if found == "" and option.parse is not None:
        return None
    return found if option.means is None else option.means


def add_options_of_forms(parser: argparse.ArgumentParser, known: Iterable[type[ExportOptions]]) -> None:
    """Add what can be said of how formats are written, each group of options below its heading."""
    groups = list(known)
    flags: set[str] = set()
    repeated = {each.flag for group in groups for each in declared(group).values() if each.kind is Kind.TEXTS}
    for group in groups:
        below = parser.add_argument_group(group.heading)
        for each in declared(group).values():
            # Groups that share an option have it once, in the words of the first.
            if each.flag not in flags:
                flags.add(each.flag)
                add_option(below, replace(each, kind=Kind.TEXTS) if each.flag in repeated else each)


def options_of_form(
    arguments: argparse.Namespace, form: Written, known: Iterable[type[ExportOptions]], target: str
) -> ExportOptions | None:
    """Return what the arguments say of how a form is written; None of one with nothing to choose.

    Parameters
    ----------
    known
        The options of all forms that the verb takes.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: one has no meaning, alone, or with the form.
    """
    from refbrowser.exporting.option_fields import chosen_options, group_of

    own = group_of(form)
    taken = set() if own is None else {each.flag for each in declared(own).values()}
    for group in known:
        for name, each in declared(group).items():
            given = said_of(arguments, each)
            if each.flag not in taken and given is not None and each.value(given) != usual(group, name):
                raise RefbrowserError(ErrorKind.USAGE, group.only)
    if own is None:
        return None
    said = {
        name: found for name, each in declared(own).items() if (found := said_of(arguments, each)) is not None
    }
    return chosen_options(form, said, target)


def said_of_opening(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what is said of options of opening, by name."""
    known: dict[str, Option] = arguments.opening
    return {name: said for name, each in known.items() if (said := said_of(arguments, each)) is not None}


def add_origins(parser: argparse.ArgumentParser) -> None:
    """Add where may be read from, and how."""
    add_allow(parser)
    parser.add_argument(
        "--allow-codec",
        action="append",
        default=[],
        metavar="NAME",
        help="let a codec that an installed package has registered with zarr or numcodecs, or all codecs of "
        "that package decode chunks, in a process of their own (repeatable)",
    )
    parser.add_argument(
        "--storage-option",
        action="append",
        default=[],
        metavar="ORIGIN:KEY=VALUE",
        help="a connection setting for one origin (repeatable)",
    )


def add_templates(parser: argparse.ArgumentParser) -> None:
    """Add ``--template``."""
    parser.add_argument(
        "--template",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="use this value for a template (repeatable)",
    )


def add_yes(parser: argparse.ArgumentParser) -> None:
    """Add ``--yes``."""
    parser.add_argument("--yes", action="store_true", help="answer questions of size with yes")


def add_skip_bad(parser: argparse.ArgumentParser) -> None:
    """Add ``--skip-bad``."""
    parser.add_argument(
        "--skip-bad", action="store_true", help="leave out what is faulty, with a warning for each"
    )


def add_dask(parser: argparse.ArgumentParser) -> None:
    """Add where the work is done."""
    parser.add_argument(
        "--dask",
        default="",
        metavar="ADDRESS",
        help="let a Dask cluster do it: tcp://HOST:PORT or tls://HOST:PORT of its scheduler; "
        "local or local:N for N processes of this machine",
    )
    for name, what in (("ca", "authority"), ("cert", "certificate"), ("key", "key")):
        parser.add_argument(
            f"--dask-tls-{name}", default="", metavar="FILE", help=f"the {what} for tls:// (PEM)"
        )


def compute_of(arguments: argparse.Namespace) -> Compute:
    """Return where the work is done.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: what is given is no address.
    """
    from refbrowser.engine.compute import Compute

    return Compute.parse(
        arguments.dask,
        ca=arguments.dask_tls_ca,
        cert=arguments.dask_tls_cert,
        key=arguments.dask_tls_key,
    )


def template_values(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the values given with ``--template``."""
    values = {}
    for text in arguments.template:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} is not of the form NAME=VALUE")
        values[name] = value
    return values


def ask(arguments: argparse.Namespace, error: RefbrowserError) -> bool:
    """Tell whether to go on above a size that needs a question: ``--yes``, or the answer on a terminal."""
    if arguments.yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    say(f"refbrowser: {error}")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def job_control(token: CancelToken, bar: ProgressBar | StageBar) -> JobControl:
    """Return the control of work that tells its progress to `bar`."""
    from refbrowser.engine.jobs import JobControl

    return JobControl(token, bar.update)


def find_array(dataset: Dataset, path: str) -> Array:
    """Return the array at `path`."""
    from refbrowser.engine.dataset import Array

    node = dataset[path]
    if not isinstance(node, Array):
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(path)} is a group, not an array")
    return node


def add_path(parser: argparse.ArgumentParser) -> None:
    """Add what is opened; `take_link` takes it apart."""
    parser.add_argument(
        "path", metavar="PATH", help="what to open, or a link to something in it: PATH::/array"
    )


def add_array(parser: argparse.ArgumentParser) -> None:
    """Add what is opened, and the array in it."""
    add_path(parser)
    words = "path of the array, for example /ocean/temp; or with PATH: PATH::/ocean/temp[0,:,:]"
    parser.add_argument("array", metavar="ARRAY", nargs="?", help=words)


def take_link(arguments: argparse.Namespace) -> Link:
    """Return the link that PATH is; what it opens is the path from now on.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: of a verb that takes ARRAY neither of both names one, or both do.
    """
    from refbrowser.engine.links import Link

    link = Link.parse(arguments.path)
    arguments.path = link.path
    if "array" in arguments and bool(link.node) == bool(arguments.array):
        message = "an array is given twice: with PATH, and by itself" if link.node else "give an array"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="write PATH ARRAY, or PATH::/array")
    if "select" in arguments and link.selection and arguments.select:
        raise RefbrowserError(ErrorKind.USAGE, "a selection is given twice: with PATH, and with --select")
    for words in link.left_out:
        tell(f"refbrowser: note: {words} was left out of the link")
    return link


def chosen_array(dataset: Dataset, link: Link, arguments: argparse.Namespace) -> tuple[Array, str]:
    """Return the array that a verb is about, and its selection: of the link, or of ARRAY and ``--select``."""
    if not link.node:
        return find_array(dataset, arguments.array), arguments.select
    found = link.among(lambda path: path in dataset)
    return find_array(dataset, found.node), found.selection or arguments.select


def add_select(parser: argparse.ArgumentParser) -> None:
    """Add ``--select``."""
    parser.add_argument("--select", default="", metavar="TEXT", help=SELECT)


#: How a selection is written.
SELECT = (
    "a part of it: 0,:,10:20:2 by position, or by the names of dimensions: time=2024-03,lat=40..60 for "
    "values of coordinates (both ends are taken), plev~500 for the nearest one, time@0:10 for indices"
)


def selection_of(array: Array, text: str, token: CancelToken) -> Selection:
    """Return the selection that a text says; see `refbrowser.views.plot.named_selection.selection_of`."""
    if not any(sign in text for sign in "=@~"):
        # What needs no coordinates does not load what reads them.
        return array.selection(text)
    from refbrowser.views.plot.named_selection import selection_of

    return selection_of(array, text, token)


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add a target that is given by its place or with ``-o``."""
    parser.add_argument("target", metavar="TARGET", nargs="?", help=what)
    parser.add_argument("-o", "--output", metavar="TARGET", help="the same, with a name")


def take_output(arguments: argparse.Namespace) -> None:
    """Let ``target`` be what was given in one of both ways.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: neither was given, or both.
    """
    if (arguments.target is None) == (arguments.output is None):
        raise RefbrowserError(ErrorKind.USAGE, "give one target: TARGET or -o TARGET")
    arguments.target = arguments.target or arguments.output


def open_dataset(arguments: argparse.Namespace, token: CancelToken) -> Dataset:
    """Open the dataset that ``arguments.path`` names."""
    return open_dataset_at(arguments.path, arguments, token)


def open_dataset_at(path: str, arguments: argparse.Namespace, token: CancelToken) -> Dataset:
    """Open a dataset, as the arguments say."""
    import refbrowser

    with ProgressBar("opening") as bar:
        return refbrowser.open(opening_of(path, arguments), progress=job_control(token, bar))


def open_document(path: str, arguments: argparse.Namespace, token: CancelToken) -> Any:
    """Open one reference document, without its hierarchy."""
    from refbrowser.engine.opening import open_document

    with ProgressBar("opening") as bar:
        return open_document(opening_of(path, arguments), job_control(token, bar))


def _tell_cost(left: int) -> None:
    """Tell what it takes to read the references that were left."""
    from refbrowser.views.words import reading_words

    if left <= LIMITS.references:
        tell(f"refbrowser: reading all {left:,} references, which takes {reading_words(left)}")


def opening_of(path: str, arguments: argparse.Namespace) -> OpenRequest:
    """Return what is to be opened, and how the arguments say so."""
    from refbrowser.engine.opening import OpenRequest

    return OpenRequest(
        path,
        options=said_of_opening(arguments) if "opening" in arguments else {},
        allow=tuple(getattr(arguments, "allow", ())),
        allow_codecs=tuple(getattr(arguments, "allow_codec", ())),
        storage_options=tuple(getattr(arguments, "storage_option", ())),
        templates=template_values(arguments),
        question=lambda error: ask(arguments, error),
        before_all=_tell_cost,
        stale=getattr(arguments, "stale", "refuse"),
    )
