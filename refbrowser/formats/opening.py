"""Opening what is named, whatever it is: the formats are tried, best score first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.format import Format, Opened, Opening, Score, Seen
from refbrowser.formats.registry import BUILT_IN, foreign, formats
from refbrowser.formats.sniffing import NotThisError
from refbrowser.io.cancel import Cancelled


def open_named(opening: Opening) -> Opened:
    """Open what is named.

    Formats are asked in the order of their scores. One that finds that what is named is none of it says so,
    and what it has found counts for the scores of the others; any other error is the answer.

    Raises
    ------
    RefbrowserError
        It cannot be read, or no format has it; or a value is given for a template that it does not have.
    Cancelled
        The opening was cancelled.
    """
    failed: dict[str, NotThisError] = {}
    while True:
        best = _best(opening, failed)
        if best is None:
            raise _nobody(failed)
        try:
            opened = _opened(best, opening)
        except NotThisError as error:
            failed[best.name] = error
            opening = replace(opening, seen=opening.seen.learned(error))
        else:
            if opening.values:
                opened.document.check_values(opening.values)
            return opened


def _best(opening: Opening, failed: dict[str, NotThisError]) -> Format | None:
    """Return the format for which most speaks of those that were not tried; the first of several.

    Those of other packages are not loaded where one of ours is sure.
    """
    best, most = _first(_scores(BUILT_IN, opening, failed))
    if most < Score.KIND and opening.flavour is None:
        other, score = _first(_scores(foreign().formats, opening, failed))
        if score > most:
            return other
    return best


def _first(scores: Iterator[tuple[Format, Score]]) -> tuple[Format | None, Score]:
    best: Format | None = None
    most = Score.NO
    for format, score in scores:
        if score > most:
            best, most = format, score
    return best, most


def _scores(
    asked: tuple[Format, ...], opening: Opening, failed: dict[str, NotThisError]
) -> Iterator[tuple[Format, Score]]:
    for format in asked:
        if format.name in failed or not format.opener:
            continue
        score = _score(format, opening.seen)
        if opening.flavour is not None and score < Score.PLACE:
            # What is named is a store, whatever it looks like.
            score = Score.SUFFIX if opening.flavour in format.flavours else Score.NO
        yield format, score


def _score(format: Format, seen: Seen) -> Score:
    if format in BUILT_IN:
        return format.score(seen)
    try:
        return Score(format.score(seen))
    except Exception:  # noqa: BLE001 - it is not ours: it has no say then
        return Score.NO


def _opened(format: Format, opening: Opening) -> Opened:
    if format in BUILT_IN:
        return format.open(opening)
    try:
        return format.open(opening)
    except (RefbrowserError, Cancelled, MemoryError):
        raise
    except Exception as error:
        message = f"the format {quoted(format.name)} of another package failed: {type(error).__name__}: "
        raise RefbrowserError(ErrorKind.FORMAT, message + quoted(error)[1:-1]) from error


def _nobody(failed: dict[str, NotThisError]) -> RefbrowserError:
    """Return the error of what no format has: what it was found to be, and what was looked for.

    That is what the last format says that knows what is there, else the first one of the table.
    """
    errors = list(failed.values())
    first = next(failed[each.name] for each in formats() if each.name in failed)
    error: RefbrowserError = next((each for each in reversed(errors) if each.found is not None), first)
    if type(error) is NotThisError and isinstance(error.__cause__, RefbrowserError):
        error = error.__cause__
    advice = error.advice or next((each.advice for each in errors if each.advice), "")
    advice = " ".join(filter(None, (advice, *(f"{each.message}." for each in foreign().errors))))
    if advice == error.advice:
        return error
    told = NotThisError(error.kind, error.message, error.place, advice)
    told.__cause__ = error
    return told
