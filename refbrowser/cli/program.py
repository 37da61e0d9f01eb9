"""The command ``refbrowser``: finds the verb, runs it, turns every failure into one line and an exit code."""

from __future__ import annotations

import _thread
import argparse
import atexit
import gc
import os
import signal
import sys
import threading
import types
from collections.abc import Sequence
from contextlib import redirect_stderr
from importlib import import_module
from typing import Any

from refbrowser.cli.console import PlainStream, tell_error, tell_internal_error
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import Cancelled, CancelToken

#: Verb to what it does; the module of the same name holds its arguments and carries it out.
VERBS = {
    "info": "show the hierarchy: groups, dimensions, arrays, problems",
    "cdl": "write a dataset as CDL, as ncdump -h does",
    "expand": "show the Version 0 rows of a document, or write it out as one object",
    "check": "list all faults and warnings of documents",
    "audit": "look at what references lead to: files, ranges, values",
    "read": "read values of an array",
    "cat": "write the stored bytes of one key",
    "explain": "tell why an element or a key shows as it does",
    "plan": "show which byte ranges a selection needs",
    "export": "write a dataset in another format",
    "make": "make references of files of data, a document for each or one of all",
    "diff": "tell how two datasets of any format differ",
    "merge": "merge what two sides changed of one reference document",
    "fold": "fold references that stand one by one into templates and gen rules",
    "move": "show where the files of a document lie, or write it with URLs that begin otherwise",
    "lock": "write what is known of the files of a document, to notice when one is replaced",
    "serve": "offer a dataset as CDM Remote, on this machine",
    "append": "add files to a reference document, or values to a stream of messages",
    "compact": "write a stream of messages anew, without what was overwritten",
    "repair": "write what is sound of a damaged stream of messages",
    "limits": "print the limits in force",
}

#: Objects made more than freed after which a verb looks for garbage: Python's own 700 are soon reached by
#: what is imported, and that stays.
UNCOLLECTED = 200_000

#: Work that does not end in order this long after Ctrl+C, in seconds, is ended at once.
PATIENCE = 3.0

INTERRUPTED = 130
PIPE_CLOSED = 141


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are errors like all others."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise the complaint as a usage error."""
        # It repeats what was given, which may be names of files that a shell filled in.
        raise RefbrowserError(ErrorKind.USAGE, quoted(message, 400)[1:-1], advice=f"see {self.prog} --help")


class _WholeParser(Parser):
    """Its help lists the verbs, and the formats; those of other packages are not looked for but then."""

    def format_help(self) -> str:
        """Return the help."""
        from refbrowser.formats.registry import foreign, openable

        verbs = "\n".join(f"  {name:8} {what}" for name, what in VERBS.items())
        opens = "\n".join(f"  {each.brief}" for each in openable())
        unusable = "".join(f"\n{error.message}" for error in foreign().errors)
        self.epilog = f"verbs:\n{verbs}\n\nformats that can be opened:\n{opens}{unusable}"
        return super().format_help()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments
        Without the program's name; those of the process when None.
    """
    if arguments is None and sys.argv[1:2] and sys.argv[1] in VERBS:
        _collect_little()
    token = CancelToken()
    _open_missing_streams()
    errors: Any = PlainStream(sys.stderr)
    with _Interrupts(token), redirect_stderr(errors):
        return _guarded(list(sys.argv[1:] if arguments is None else arguments), token)


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


def _guarded(arguments: list[str], token: CancelToken) -> int:
    """Run a command and turn whatever it raises into a line and an exit code."""
    try:
        code = _run(arguments, token)
        sys.stdout.flush()
        return code
    except RefbrowserError as error:
        tell_error(error)
        return error.kind.exit_code
    except (Cancelled, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit as end:  # argparse, after --help and --version
        return int(end.code or 0)
    except BrokenPipeError:
        # What reads our output has had enough; the interpreter must not try to flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        tell_error(RefbrowserError(ErrorKind.IO, quoted(error)[1:-1]))
        return ErrorKind.IO.exit_code
    except Exception:  # noqa: BLE001 - no traceback ever reaches the user
        tell_internal_error()
        return 1


class _Interrupts:
    """Lets Ctrl+C cancel the work in order; a second one, or work that does not heed it, ends at once.

    A signal handler may run while its thread holds any lock, so it only sets an event; a thread of its own
    cancels.
    """

    def __init__(self, token: CancelToken) -> None:
        self._token = token
        self._happened = threading.Event()
        self._over = threading.Event()

    def __enter__(self) -> None:
        try:
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
        except ValueError:  # not the main thread: the caller has its own way to interrupt
            self._previous = None
            return
        threading.Thread(target=self._wait, name="interrupts", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._happened.set()
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _interrupt(self, number: int, frame: types.FrameType | None) -> None:
        if self._happened.is_set():
            raise KeyboardInterrupt
        self._happened.set()

    def _wait(self) -> None:
        self._happened.wait()
        if self._over.is_set():
            return
        self._token.cancel()
        if not self._over.wait(PATIENCE):
            _thread.interrupt_main()


def _run(arguments: list[str], token: CancelToken) -> int:
    verb = arguments[0] if arguments else ""
    if verb in VERBS:
        module = import_module(f"refbrowser.cli.{verb}")
        parser = Parser(prog=f"refbrowser {verb}", description=module.__doc__, allow_abbrev=False)
        module.add_arguments(parser)
        taken, as_is = _split(parser, arguments[1:])
        found = _parsed(parser, taken)
        found.as_is = as_is
        return int(module.run(found, token))
    import refbrowser.cli.window as window

    parser = _WholeParser(
        prog="refbrowser",
        description="Open, understand, repair and export datasets described by references.",
        usage="refbrowser [PATH...]   or   refbrowser VERB ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    window.add_arguments(parser)
    return int(window.run(_parsed(parser, arguments), token))


def _split(parser: Parser, arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the arguments that are parsed, and those behind an option whose arguments are taken as they are.

    What git gives may be called like an option.
    """
    option = parser.get_default("as_is_after")
    stop = arguments.index(option) + 1 if option in arguments else len(arguments)
    return arguments[:stop], arguments[stop:]


def _parsed(parser: Parser, arguments: list[str]) -> argparse.Namespace:
    """Parse options and positionals in any order; a selection or index may begin with a minus."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] in ("--select", "--index"):
            joined[-1] = f"{joined[-1]}={argument}"
        else:
            joined.append(argument)
    wants_help = bool({"-h", "--help"} & set(joined))
    found, unknown = (None, joined) if wants_help else parser.parse_known_intermixed_args(joined)
    if found is not None and not unknown:
        return found
    # What formats of other packages add is not looked for where nothing asks for it.
    from refbrowser.cli.options import add_further

    add_further(parser)
    return parser.parse_intermixed_args(joined)
