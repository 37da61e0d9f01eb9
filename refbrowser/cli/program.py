"""The command ``refbrowser``: finds the verb, runs it, turns every failure into one line and an exit code."""

from __future__ import annotations

import _thread
import argparse
import atexit
import gc
import os
import re
import signal
import sys
import threading
import types
from collections.abc import Sequence
from contextlib import redirect_stderr
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from refbrowser.cli.console import (
    MANNER,
    PlainStream,
    tell,
    tell_error,
    tell_internal_error,
    tell_trace,
)
from refbrowser.cli.settings import give_settings
from refbrowser.errors import (
    AbsentError,
    ErrorKind,
    Outcome,
    Place,
    RefbrowserError,
    TargetExistsError,
    quoted,
)
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.loading import load
from refbrowser.tools.registry import foreign, headings, is_built_in, suggestion, tool_named

if TYPE_CHECKING:
    from refbrowser.cli.options import NoReportFiles
    from refbrowser.cli.report_files import ReportFiles
    from refbrowser.tools.tool import Tool

#: Objects made more than freed after which a verb looks for garbage: Python's own 700 are soon reached by
#: what is imported, and that stays.
UNCOLLECTED = 200_000

#: Work that does not end in order this long after Ctrl+C, in seconds, is ended at once.
PATIENCE = 3.0

#: What every verb has, and what may stand before the verb, too.
COMMON = ("--json", "-q", "--quiet", "-v", "--verbose")
#: A word that is the name of a verb or nothing, unless there is a file of that name.
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*\Z")


#: What the help says of the program, and of its verbs.
ABOUT = "Open, understand, repair and export datasets described by references."
HOW = """refbrowser help VERB, or VERB --help, explains a verb. Each verb takes --json, -q (no progress and
no warnings) and -v (how long each step took). Without a verb the window opens; the options below are for
that."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are errors like all others."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise the complaint as a usage error."""
        # It repeats what was given, which may be names of files that a shell filled in.
        raise RefbrowserError(ErrorKind.USAGE, quoted(message, 400)[1:-1], advice=f"see {self.prog} --help")


class _Help(argparse.Action):
    """Prints the help, shortened to what belongs to the arguments before it where a verb can do so."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, *_: object) -> None:
        """Print it and end."""
        shorten = parser.get_default("shorten_help")
        if shorten is not None:
            shorten(parser, namespace)
        parser.print_help()
        parser.exit()


class _WholeParser(Parser):
    """Its help lists the verbs first, and the formats; those of other packages are looked for only then."""

    def format_help(self) -> str:
        """Return the help."""
        from refbrowser.formats import registry

        verbs = "\n\n".join(
            f"{heading}:\n" + "\n".join(f"  {tool.name:10} {tool.words}" for tool in tools)
            for heading, tools in headings().items()
        )
        opens = "\n".join(f"  {each.brief}" for each in registry.openable())
        errors = (*registry.foreign().errors, *foreign().errors)
        unusable = "".join(f"\n{error.message}" for error in errors)
        self.description = f"{ABOUT}\n\n{verbs}\n\n{HOW}"
        self.epilog = f"formats that can be opened:\n{opens}{unusable}"
        return super().format_help()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments
        Without the program's name; those of the process when None.
    """
    if arguments is None and sys.argv[1:2] and is_built_in(sys.argv[1]):
        _collect_little()
    token = CancelToken()
    _open_missing_streams()
    errors: Any = PlainStream(sys.stderr)
    with _Interrupts(token) as interrupts, redirect_stderr(errors):
        return _guarded(list(sys.argv[1:] if arguments is None else arguments), token, interrupts)


def _collect_little() -> None:
    """Let this process spend little time on garbage: a fifth of what a short command takes."""
    gc.set_threshold(UNCOLLECTED, *gc.get_threshold()[1:])
    # The last thing it does is to look through all that is there, which ends with it anyway.
    atexit.register(gc.freeze)


def _open_missing_streams() -> None:
    """Let nothing be written where a stream was closed before we started, as without a console."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - kept open


def _guarded(arguments: list[str], token: CancelToken, interrupts: _Interrupts) -> int:
    """Run a command and turn whatever it raises into a line and an exit code."""
    verb, rest = _verb_first(arguments)
    options = set(rest[: rest.index("--")] if "--" in rest else rest)
    MANNER.is_json = "--json" in options
    MANNER.is_quiet, MANNER.is_verbose = bool({"-q", "--quiet"} & options), False
    try:
        code = _run(verb, rest, token)
        sys.stdout.flush()
        return code
    except RefbrowserError as error:
        return _ended_by(error)
    except (Cancelled, KeyboardInterrupt):
        return interrupts.outcome.exit_code
    except SystemExit as end:  # argparse, after --help and --version
        return int(end.code or 0)
    except BrokenPipeError:
        # What reads our output has had enough; the interpreter must not try to flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Outcome.CLOSED.exit_code
    except ImportError as error:
        from refbrowser.cli.missing import not_installed

        missing = not_installed(error)
        if missing is not None:
            return _ended_by(missing)
        tell_internal_error()
        return Outcome.INTERNAL.exit_code
    except OSError as error:
        return _ended_by(_of_system(error))
    except MemoryError:
        return _ended_by(RefbrowserError(ErrorKind.BUDGET, "there is not enough memory for this"))
    except Exception:  # noqa: BLE001 - no traceback ever reaches the user
        tell_internal_error()
        return Outcome.INTERNAL.exit_code


def _ended_by(error: RefbrowserError) -> int:
    tell_error(error)
    if MANNER.is_verbose:
        tell_trace()
    return error.outcome.exit_code


def _of_system(error: OSError) -> RefbrowserError:
    """Return an error of the system as one of ours."""
    kind = {FileNotFoundError: AbsentError, FileExistsError: TargetExistsError}.get(
        type(error), RefbrowserError
    )
    return kind(ErrorKind.IO, quoted(error)[1:-1])


class _Interrupts:
    """Lets Ctrl+C and SIGTERM cancel the work in order; a second one, or patience that ends, ends it at once.

    A signal handler may run while its thread holds any lock, so it only sets an event; a thread of its own
    cancels.

    Attributes
    ----------
    outcome
        How the command ends: by the signal that came first.
    """

    #: What each signal ends a command as.
    OUTCOMES: ClassVar = {signal.SIGINT: Outcome.INTERRUPTED, signal.SIGTERM: Outcome.TERMINATED}

    def __init__(self, token: CancelToken) -> None:
        self._token = token
        self._happened = threading.Event()
        self._over = threading.Event()
        self._previous: dict[signal.Signals, Any] = {}
        self._main = threading.get_ident()
        self.outcome = Outcome.INTERRUPTED

    def __enter__(self) -> _Interrupts:
        try:
            self._previous = {each: signal.signal(each, self._interrupt) for each in self.OUTCOMES}
        except ValueError:  # not the main thread: the caller has its own way to interrupt
            return self
        threading.Thread(target=self._wait, name="interrupts", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._happened.set()
        for number, previous in self._previous.items():
            # What was not set by Python cannot be set back by it.
            signal.signal(number, signal.SIG_DFL if previous is None else previous)

    def _interrupt(self, number: int, frame: types.FrameType | None) -> None:
        if self._happened.is_set():
            raise KeyboardInterrupt
        self.outcome = self.OUTCOMES[signal.Signals(number)]
        self._happened.set()

    def _wait(self) -> None:
        self._happened.wait()
        if self._over.is_set():
            return
        self._token.cancel()
        if self._over.wait(PATIENCE):
            return
        if hasattr(signal, "pthread_kill"):
            # It reaches a thread that waits for a lock or an answer, too.
            signal.pthread_kill(self._main, signal.SIGINT)
        else:
            _thread.interrupt_main()


def _verb_first(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the verb, and what follows it; options that all verbs have may stand before it."""
    count = next((place for place, each in enumerate(arguments) if each not in COMMON), len(arguments))
    before, after = arguments[:count], arguments[count:]
    if after and _is_verb(after[0]):
        return after[0], [*before, *after[1:]]
    if after and after[0] in ("help", "version") and not os.path.lexists(after[0]):
        return after[0], after[1:]
    return "", arguments


def tool_of(verb: str) -> Tool:
    """Return the tool that a verb runs.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such verb.
    """
    tool = tool_named(verb)
    if tool is None:
        raise _unknown(verb)
    return tool


def _is_verb(word: str) -> bool:
    """Whether a word is a verb; of another package, it is looked for where no file has that name."""
    if is_built_in(word):
        return True
    return bool(_WORD.match(word)) and not os.path.lexists(word) and tool_named(word) is not None


def _run(verb: str, arguments: list[str], token: CancelToken) -> int:
    if verb == "version" or arguments == ["-V"]:
        return _run("", ["--version"], token)
    if verb == "help":
        # Of a verb, or of all.
        about = next(iter(arguments), "")
        return _run(about, ["--help"], token)
    if verb:
        if arguments == ["help"] and not os.path.lexists("help"):
            arguments = ["--help"]
        return _run_verb(tool_of(verb), arguments, token)
    import refbrowser.cli.window as window

    _check_no_verb([each for each in arguments if each not in COMMON])
    parser = _WholeParser(
        prog="refbrowser",
        usage="refbrowser [PATH...]   or   refbrowser VERB ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    window.add_arguments(parser)
    return int(window.run(parsed(parser, arguments), token))


class Verb(Protocol):
    """How a tool is run by the command line: a module, or what is made of the tool's request."""

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """Its help."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the verb."""

    def run(self, arguments: argparse.Namespace, token: CancelToken) -> int:
        """Run it and return the exit code."""


def verb_of(tool: Tool) -> Verb:
    """Return how the command line runs a tool."""
    if tool.verb:
        return cast(Verb, load(tool.verb))
    from refbrowser.cli.tool_verb import ToolVerb

    return ToolVerb(tool)


def parser_of(tool: Tool) -> Parser:
    """Return what parses the arguments of a verb."""
    verb = verb_of(tool)
    examples = "\n".join(f"  {each}" for each in tool.examples)
    parser = Parser(
        prog=f"refbrowser {tool.name}",
        description=verb.__doc__,
        epilog=f"examples (refbrowser sample writes sea_surface.json):\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action=_Help, nargs=0, help="show this help")
    verb.add_arguments(parser)
    from refbrowser.cli.options import add_report_files

    add_report_files(parser, tool)
    add_manner(parser)
    return parser


def window_parser() -> Parser:
    """Return what parses the arguments where there is no verb, with what may stand before one."""
    import refbrowser.cli.window as window
    from refbrowser.cli.options import add_further, add_json

    parser = Parser(prog="refbrowser")
    window.add_arguments(parser)
    add_json(parser)
    add_manner(parser)
    add_further(parser)
    return parser


def add_manner(parser: argparse.ArgumentParser) -> None:
    """Add how much a verb says."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-q", "--quiet", action="store_true", help="no progress, notes and warnings")
    group.add_argument("-v", "--verbose", action="store_true", help="say how long each step took")


def _run_verb(tool: Tool, arguments: list[str], token: CancelToken) -> int:
    parser = parser_of(tool)
    taken, as_is = _split(parser, arguments)
    taken = _without_dashes(taken)
    given = give_settings(parser) if tool.name != "config" else []
    found = parsed(parser, _renamed(tool, taken))
    MANNER.is_quiet, MANNER.is_verbose = found.quiet, found.verbose
    for line in given if found.verbose else ():
        tell(f"refbrowser: setting {line}")
    found.as_is = as_is
    found.report_files = _report_files(tool, found, arguments)
    try:
        return verb_of(tool).run(found, token)
    except RefbrowserError as error:
        found.report_files.write_error(error)
        raise


def _report_files(tool: Tool, found: argparse.Namespace, arguments: list[str]) -> ReportFiles | NoReportFiles:
    """Return the files of reports that a verb is to write beside what it prints."""
    from refbrowser.cli.options import REPORT_FILES, NoReportFiles

    if not any(getattr(found, name, None) for name in REPORT_FILES):
        return NoReportFiles()
    from refbrowser.cli.report_files import ReportFiles

    return ReportFiles.of(tool, found, arguments)


def _renamed(tool: Tool, arguments: list[str]) -> list[str]:
    """Return the arguments with the names that options have now; a note names those of before."""
    names = tool.renamed
    renamed = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name in names:
            tell(f"refbrowser: note: {name} is called {names[name]} now; the old name goes on working")
            argument = names[name] + equals + value
        renamed.append(tool.short_forms.get(argument, argument))
    return renamed


def _unknown(word: str) -> RefbrowserError:
    """Return the error for a word that is no verb."""
    meant = suggestion(word)
    advice = f"did you mean {meant}? refbrowser help lists all" if meant else "refbrowser help lists all"
    return RefbrowserError(ErrorKind.USAGE, f"there is no verb {quoted(word)}", advice=advice)


def _check_no_verb(arguments: list[str]) -> None:
    """Raise where the first argument is meant as a verb, or as a file that is not there: no window then."""
    if not arguments or arguments[0].startswith("-") or "://" in arguments[0]:
        return
    word = path = arguments[0]
    if ":" in word:
        # Not before the first paint where it is not needed.
        from refbrowser.engine.links import Link

        if Link.is_from_outside(word):
            return
        path = Link.parse(word).path
    if os.path.lexists(os.path.expanduser(path)):
        return
    if _WORD.match(word):
        raise _unknown(word)
    if "--screenshot" not in " ".join(arguments):
        advice = "refbrowser without a path opens the window"
        raise AbsentError(ErrorKind.IO, "there is no such file", Place(path=path), advice)


def _split(parser: Parser, arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the arguments that are parsed, and those behind an option whose arguments are taken as they are.

    What git gives may be called like an option.
    """
    option = parser.get_default("as_is_after")
    stop = arguments.index(option) + 1 if option in arguments else len(arguments)
    return arguments[:stop], arguments[stop:]


def _without_dashes(arguments: list[str]) -> list[str]:
    """Return arguments without ``--``: one behind it that begins as an option does is the name of a file.

    Programs that are given names, such as those of a repository, end their options with it.
    """
    if "--" not in arguments:
        return arguments
    end = arguments.index("--")
    return [
        *arguments[:end],
        *(f"./{each}" if each.startswith("-") else each for each in arguments[end + 1 :]),
    ]


def parsed(parser: Parser, arguments: list[str]) -> argparse.Namespace:
    """Parse options and positionals in any order; a selection or index may begin with a minus."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] in ("--select", "--index"):
            joined[-1] = f"{joined[-1]}={argument}"
        else:
            joined.append(argument)
    wants_help = bool({"-h", "--help"} & set(joined))
    # What else was given may say which part of the help is wanted.
    joined.sort(key=lambda argument: argument in ("-h", "--help"))
    found, unknown = (None, joined) if wants_help else parser.parse_known_intermixed_args(joined)
    if found is not None and not unknown:
        return found
    check_known = parser.get_default("check_known")
    if found is not None and check_known is not None:
        # Options are not known where what has them is missing.
        check_known(found)
    # What single formats add, those of other packages too, is not looked for where nothing asks for it.
    from refbrowser.cli.options import add_further

    add_further(parser)
    # The help is printed on the way; parsing in any order would have it without the positionals.
    return parser.parse_args(joined) if wants_help else parser.parse_intermixed_args(joined)
