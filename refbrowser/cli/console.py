"""What the command line says: data on standard output, everything else on standard error."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from refbrowser.errors import Outcome, RefbrowserError, Severity, quoted, sentence
from refbrowser.findings.finding import Finding, damage_text
from refbrowser.words import binary_size_text

if TYPE_CHECKING:
    from pathlib import Path


#: The log of internal errors is begun anew above this many bytes.
LOG_SIZE = 1024 * 1024
#: Places of a damaged source that are told one by one.
DAMAGE_SHOWN = 10
#: Characters that act on a terminal, but for the end of a line and the tab; and those that turn text around.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: Lines, and items of a list, that are written together.
_TOGETHER = 4096


def _escaped(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii")


def plain(text: object) -> str:
    """Return foreign text fit for one line of a terminal: nothing in it acts on the terminal."""
    return quoted(text, limit=16_384)[1:-1]


def plain_whole(text: object) -> str:
    """Return foreign text like `plain`, however long it is."""
    shown = str(text)
    return quoted(shown, limit=len(shown))[1:-1]


@dataclass(slots=True)
class Manner:
    """How a command speaks: errors as JSON, quietly, or saying more than it needs to."""

    is_json: bool = False
    is_quiet: bool = False
    is_verbose: bool = False


#: That of the command that runs.
MANNER = Manner()


def tell(line: str) -> None:
    """Write one line to standard error as `say` does, unless the command is to be quiet."""
    if not MANNER.is_quiet:
        say(line)


def say(line: str) -> None:
    """Write one line to standard error, in one piece; nothing in it acts on the terminal."""
    line = plain_whole(line)
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    sys.stderr.flush()


def tell_error(error: RefbrowserError) -> None:
    """Write ``refbrowser: error[KIND]: what (where)``; with ``--json`` one JSON object on one line."""
    if not MANNER.is_json:
        say(f"refbrowser: error[{error.kind}]: {sentence(error.message, error.advice, error.place)}")
        return
    place = {name: value for name, value in asdict(error.place).items() if value is not None}
    _tell_json(str(error.kind), error.outcome, error.message, error.advice, place)


def _tell_json(kind: str, outcome: Outcome, message: str, advice: str, place: dict[str, Any]) -> None:
    import json

    told = {
        "word": str(outcome),
        "exit_code": outcome.exit_code,
        "kind": kind,
        "message": message,
        "advice": advice,
        "place": place,
    }
    say(json.dumps({"error": told}, allow_nan=False))


def tell_warning(finding: Finding | RefbrowserError) -> None:
    """Write ``refbrowser: warning[KIND]: what (where)``."""
    count = finding.count if isinstance(finding, Finding) else 1
    line = sentence(finding.message, finding.advice, finding.place)
    tell(f"refbrowser: warning[{finding.kind}]: {line}{_times(count)}")


def tell_findings(findings: Iterable[Finding]) -> None:
    """Write each finding as a warning line, whatever its severity: the command goes on."""
    for finding in findings:
        tell_warning(finding)


def tell_damage(damage: Sequence[Finding]) -> None:
    """Warn of what a damaged source has lost, before anything is made of what is left."""
    for found in damage[:DAMAGE_SHOWN]:
        tell_warning(replace(found, message=damage_text(found)))
    if len(damage) > DAMAGE_SHOWN:
        more = f"the source is damaged in {len(damage) - DAMAGE_SHOWN} more places"
        tell(f"refbrowser: warning[{damage[0].kind}]: {more}; refbrowser check lists them")


def _times(count: int) -> str:
    return f" [{count} times]" if count > 1 else ""


def tell_internal_error() -> None:
    """Log the exception being handled under an incident number, and name that number."""
    import traceback  # Each start would load it, for what should never be needed.

    incident = f"{time.strftime('%Y%m%d')}-{os.urandom(4).hex()}"
    try:
        log = _log_file()
        from refbrowser.io.files.own_names import open_own

        log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        begins = os.O_TRUNC if log.exists() and log.stat().st_size > LOG_SIZE else os.O_APPEND
        descriptor = open_own(log, os.O_WRONLY | os.O_CREAT | begins)
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            if hasattr(os, "fchmod"):
                # It may have been made when others could read it.
                os.fchmod(descriptor, 0o600)
            stream.write(f"incident {incident}\n{traceback.format_exc()}\n")
        where = f"incident {incident} in {plain(log)}"
    except OSError:
        where = f"incident {incident}; its log could not be written"
    if MANNER.is_json:
        message = f"internal error, please report it ({where})"
        _tell_json("E_INTERNAL", Outcome.INTERNAL, message, "", {})
    else:
        say(f"refbrowser: error[E_INTERNAL]: internal error, please report it ({where})")
    if MANNER.is_verbose:
        tell_trace()


def tell_trace() -> None:
    """Write the traceback of the exception being handled to standard error."""
    import traceback

    for line in traceback.format_exc().splitlines():
        tell(line)


def _log_file() -> Path:
    from pathlib import Path

    default = Path.home() / ("AppData/Local" if os.name == "nt" else ".local/state")
    return Path(os.environ.get("XDG_STATE_HOME") or default) / "refbrowser" / "errors.log"


class PlainStream:
    """A stream for a terminal: whatever is written to it, by libraries too, does not act on that.

    What is meant to act, as a progress bar does, is written to `stream`.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write text with its control characters escaped."""
        return self.stream.write(without_controls(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def without_controls(text: str) -> str:
    """Return lines of text in which what acts on a terminal, or turns the order of letters, is escaped."""
    return _ACTING.sub(lambda found: _escaped(found[0]), text)


def write_line(text: str) -> None:
    """Write one line of text to standard output; nothing in it acts on the terminal."""
    text = without_controls(text)
    if not text.isascii():
        encoding = sys.stdout.encoding or "utf-8"
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(text + "\n")


def write_lines(lines: Iterable[str]) -> None:
    """Write lines of text, many at a time."""
    pending = iter(lines)
    while some := list(islice(pending, _TOGETHER)):
        write_line("\n".join(some))


def write_json(value: Any) -> None:
    """Write one JSON document on one line; pure ASCII, so that nothing in it acts on a terminal."""
    import json

    sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")


def write_json_list(name: str, items: Iterable[Any], others: dict[str, Any]) -> None:
    """Write one JSON object like `write_json`, whose first member is a list that need not be held."""
    import json

    sys.stdout.write(f"{{{json.dumps(name)}: [")
    pending, before = iter(items), ""
    while some := list(islice(pending, _TOGETHER)):
        sys.stdout.write(before + json.dumps(some, allow_nan=False)[1:-1])
        before = ", "
    sys.stdout.write("], " + json.dumps(others, allow_nan=False)[1:] + "\n")


def write_bytes(blocks: Iterable[bytes | memoryview]) -> None:
    """Write bytes to standard output as they are."""
    sys.stdout.flush()
    for block in blocks:
        sys.stdout.buffer.write(block)
    sys.stdout.buffer.flush()


def finding_line(finding: Finding) -> str:
    """Return a finding as one line of text."""
    word = "error" if finding.severity is Severity.FAULT else "warning"
    line = sentence(finding.message, finding.advice, finding.place)
    return f"{word}[{finding.kind}]: {line}{_times(finding.count)}"


#: Nothing is drawn before the work has taken this long, in seconds.
PATIENCE = 0.2
INTERVAL = 0.1
WIDTH = 30


def _terminal() -> TextIO:
    """Return standard error for what is to act on the terminal."""
    stream: Any = sys.stderr
    return stream.stream if isinstance(stream, PlainStream) else stream


class ProgressBar:
    """Draws the progress that a job tells; silent where standard error is not a terminal.

    Parameters
    ----------
    unit
        Of what is counted; then its rate is told, and how long the rest will take.
    """

    def __init__(self, title: str, unit: str = "") -> None:
        self.title = title
        self.unit = unit
        self._shown = False
        self._start = self._last = time.monotonic()
        self._values: dict[str, Any] = {}
        #: When it began to count up to the total that is told now, and from what on.
        self._counted: tuple[float, int, int | None] = (self._start, 0, None)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            _terminal().write("\r\x1b[K")
            sys.stderr.flush()
        if MANNER.is_verbose:
            read = self._values.get("read_bytes")
            some = f", {binary_size_text(read)} read" if read else ""
            tell(f"refbrowser: {self.title}: {time.monotonic() - self._start:.2f} s{some}")

    def update(self, changes: dict[str, Any]) -> None:
        """Take changes of a `JobStatus` (``done``, ``total``, ``read_bytes``, ``note``...)."""
        self._values |= changes
        if MANNER.is_quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            # The last of these cannot draw a line anew.
            return
        now = time.monotonic()
        if self._counted[2] != self._values.get("total"):
            self._counted = now, self._values.get("done", 0), self._values.get("total")
        if now - self._start < PATIENCE or now - self._last < INTERVAL:
            return
        self._last = now
        self._shown = True
        _terminal().write("\r\x1b[K" + self._line())
        sys.stderr.flush()

    def _line(self) -> str:
        done, total = self._values.get("done", 0), self._values.get("total")
        read = f"  {binary_size_text(self._values['read_bytes'])}" if self._values.get("read_bytes") else ""
        note = f"  {plain(self._values['note'])}" if self._values.get("note") else ""
        if not total:
            return f"{self.title}{f'  {done}' if done or not note else ''}{read}{note}"
        filled = min(WIDTH, WIDTH * done // total)
        bar = "#" * filled + "-" * (WIDTH - filled)
        return f"{self.title} [{bar}] {100 * done // total:3d} %{self._rate(done, total)}{read}{note}"

    def _rate(self, done: int, total: int) -> str:
        since, first, _ = self._counted
        if not self.unit or done <= first:
            return ""
        # What was there of an earlier run took no time.
        rate = (done - first) / max(time.monotonic() - since, 1e-3)
        minutes, seconds = divmod(round((total - done) / rate), 60)
        return f"  {done} of {total} {self.unit}, {rate:.3g}/s, {minutes}:{seconds:02d} left"


class StageBar:
    """Draws the progress of work that tells its stages, each as a `ProgressBar` of that title.

    Parameters
    ----------
    stages
        Titles of stages, and the unit of what is counted in each; others are notes of the one that is drawn.
    """

    def __init__(self, stages: Mapping[str, str]) -> None:
        self._stages = stages
        self._bar: ProgressBar | None = None

    def __enter__(self) -> StageBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the stage that is drawn."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
        self._bar = None

    def update(self, changes: dict[str, Any]) -> None:
        """Take changes of a `JobStatus`; a stage is told with ``note`` and a ``total`` that is not known."""
        title = changes.get("note", "")
        if title in self._stages and changes.get("total", 0) is None:
            self.end()
            self._bar = ProgressBar(title, self._stages[title])
            return
        if self._bar is not None:
            self._bar.update(changes)
