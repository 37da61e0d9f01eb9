"""Opening what is named, whatever it is: the formats are tried, best score first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.format import Format, Opened, Opening, Score, Seen
from refbrowser.formats.registry import BUILT_IN, data_suffixes, foreign, formats, openable, opening_options
from refbrowser.formats.sniffing import FileKind, Found, NotReferencesError, NotThisError
from refbrowser.io.cancel import Cancelled
from refbrowser.loading import absent, load

#: What reads the files that name others; few do.
_LED_ON = "refbrowser.formats.leads.leading:led_on"
#: Documents of a folder that an error names.
_NAMED = 3


def open_named(opening: Opening) -> Opened:
    """Open what is named.

    Formats are asked in the order of their scores. One that finds that what is named is none of it says so,
    and what it has found counts for the scores of the others; any other error is the answer.

    Raises
    ------
    RefbrowserError
        It cannot be read, or no format has it; or a value is given for a template that it does not
        have, or an option of another format.
    """
    failed: dict[str, NotThisError] = {}
    while True:
        best = _best(opening, failed)
        if best is None:
            raise _led_on(_nobody(failed, opening.seen), opening)
        try:
            opened = _opened(best, opening)
        except NotThisError as error:
            if error.found is not None and error.found.lead is not None:
                # It is one that names others, which were looked at: no other format has it.
                raise
            failed[best.name] = error
            opening = replace(opening, seen=opening.seen.learned(error))
        else:
            # Not before it is known to be the one.
            if opening.options:
                _check_options(best, opening)
            if opening.values:
                opened.document.check_values(opening.values)
            opened.document.ask_before_reading(opening.before_all)
            # Errors keep the frames of all who called, and so what is made of this: until it is collected.
            failed.clear()
            return _remembered(opened, best, opening)


def _remembered(opened: Opened, format: Format, opening: Opening) -> Opened:
    """Return what was opened, with the options that were said."""
    said = {**opening.kept, **opening.options}
    known = format.opening_options().keys() if said else ()
    options = {name: value for name, value in said.items() if name in known}
    return replace(opened, document=replace(opened.document, opened_with=options)) if options else opened


def _check_options(format: Format, opening: Opening) -> None:
    """Raise `E_USAGE` for an option that the format does not have."""
    unknown = opening.options.keys() - format.opening_options().keys()
    if not unknown:
        return
    name = min(unknown)
    having = [each for each in openable() if name in each.opening_options()]
    if not having:
        message = f"{quoted(name)} is not an option of opening"
        advice = f"known: {', '.join(sorted(opening_options(openable())))}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=advice)
    flag = having[0].opening_options()[name].flag
    raise RefbrowserError(
        ErrorKind.USAGE,
        f"{flag} ({name}) does not apply to {format.title}",
        Place(document=opening.path),
        f"formats with it: {', '.join(each.title for each in having)}",
    )


def _deciding(opening: Opening) -> set[str]:
    """Return the options that were said and decide which format it is."""
    if not opening.options:
        return set()
    known = opening_options(openable())
    return {name for name in opening.options if name in known and known[name].decides}


def _best(opening: Opening, failed: dict[str, NotThisError]) -> Format | None:
    """Return the format for which most speaks of those that were not tried; the first of several.

    Those of other packages are not loaded where one of ours is sure.
    """
    deciding = _deciding(opening)
    best, most = _first(_scores(BUILT_IN, opening, failed, deciding))
    if most < Score.KIND:
        other, score = _first(_scores(foreign().values, opening, failed, deciding))
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
    asked: tuple[Format, ...], opening: Opening, failed: dict[str, NotThisError], deciding: set[str]
) -> Iterator[tuple[Format, Score]]:
    for format in asked:
        if format.name in failed or not format.opener or opening.format not in ("", format.name):
            continue
        score = _score(format, opening.seen)
        if opening.format:
            score = max(score, Score.LAST)
        if deciding and score < Score.PLACE:
            # What is named is of the format that has it, whatever it looks like.
            score = Score.SUFFIX if deciding <= format.opening_options().keys() else Score.NO
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
        if not format.is_installed and _score(format, opening.seen) < Score.KIND:
            # It may well be of another one.
            raise NotThisError.of(absent(format.opener))
        return format.open(opening)
    try:
        return format.open(opening)
    except (RefbrowserError, Cancelled, MemoryError):
        raise
    except Exception as error:
        message = f"the format {quoted(format.name)} of another package failed: {type(error).__name__}: "
        raise RefbrowserError(ErrorKind.FORMAT, message + quoted(error)[1:-1]) from error


def _led_on(error: RefbrowserError, opening: Opening) -> RefbrowserError:
    """Return the error of what no format has with the files that it names, where it names any."""
    if not isinstance(error, NotReferencesError) or error.found.is_data:
        return error
    found: RefbrowserError = load(_LED_ON)(error, opening)
    return found


def _miscalled(found: Found, titles: list[str], name: str | None) -> NotReferencesError:
    """Return the error of a file that is none of what its name says."""
    what = {
        FileKind.UNKNOWN: "has no known format",
        FileKind.EMPTY: "is empty",
        FileKind.TEXT: "holds text",
    }.get(found.kind, f"is a {found.kind}")
    message = f"the file {what}, though its name is that of {' or '.join(titles)}"
    return NotReferencesError(RefbrowserError(ErrorKind.FORMAT, message, Place(document=name)), found)


def _folder_of_files(errors: list[NotThisError], seen: Seen) -> NotReferencesError | None:
    """Return the error of a folder that is no dataset, but has files to open; None of any other."""
    found = next((each.found for each in errors if each.found is not None and each.found.names), None)
    if found is None or not seen.is_folder:
        return None
    suffixes = data_suffixes()
    data = sorted(name for name in found.names if name.lower().endswith(suffixes))
    if not (data or found.documents):
        return None
    held = []
    if data:
        count = f"{'more than ' if found.is_cut else ''}{len(data)} files of data"
        held.append(f"the file of data {quoted(data[0])}" if len(data) == 1 else count)
    if found.documents:
        named = ", ".join(map(quoted, found.documents[:_NAMED]))
        held.append(f"what may be reference documents ({named})")
    first = os.path.join(seen.path, (*data, *found.documents)[0])
    advice = [f"open one of them, {quoted(first)}"]
    if len(data) > 1:
        ending = os.path.splitext(data[0])[1]
        pattern = quoted(os.path.join(seen.path, f"*{ending}"))
        advice.append(f"or make one dataset of all: refbrowser make {pattern} -o ALL.json --concat DIM")
    message = f"the folder is not a dataset; it holds {' and '.join(held)}"
    error = RefbrowserError(ErrorKind.FORMAT, message, Place(document=seen.path), ", ".join(advice))
    return NotReferencesError(error, found)


def _nobody(failed: dict[str, NotThisError], seen: Seen) -> RefbrowserError:
    """Return the error of what no format has: what it was found to be, and what was looked for.

    That is what the last format says that knows what is there, else the first one of the table.
    """
    errors = list(failed.values())
    first = next(failed[each.name] for each in formats() if each.name in failed)
    last: NotThisError = next((each for each in reversed(errors) if each.found is not None), first)
    error: RefbrowserError = last
    titles = [each.title for each in openable() if each.is_data and seen.ends(each.suffixes)]
    if type(last) is NotThisError and isinstance(last.__cause__, RefbrowserError):
        error = last.__cause__
    elif titles and last.found is not None and not last.found.is_data:
        # What the formats that were tried advise is about files of theirs.
        error, errors = _miscalled(last.found, titles, last.place.document), []
    elif (folder := _folder_of_files(errors, seen)) is not None:
        return folder
    advice = error.advice or next((each.advice for each in errors if each.advice), "")
    advice = " ".join(filter(None, (advice, *(f"{each.message}." for each in foreign().errors))))
    if advice == error.advice:
        return error
    told = NotThisError(error.kind, error.message, error.place, advice)
    told.__cause__ = error
    return told
