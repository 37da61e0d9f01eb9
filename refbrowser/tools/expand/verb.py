"""Show the Version 0 rows of a document, or write all of it as one Version 0 object."""

from __future__ import annotations

import argparse
import base64
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import tell_findings, tell_warning, write_bytes, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_skip_bad,
    add_templates,
    add_yes,
    ask,
    open_document,
)
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.references.content.expansion_faults import LeftOut
    from refbrowser.references.document.document import Document

#: Rows that are made together.
PAGE = 4096

#: A document of more rows is not checked for warnings when only some of its rows are asked for.
MOST_CHECKED = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="DOC", help="a reference document")
    parser.add_argument("--start", type=int, metavar="I", help="first row")
    parser.add_argument("--count", type=int, metavar="N", help="number of rows; 0 gives how many there are")
    parser.add_argument("--key", action="append", metavar="KEY", help="the row of this key (repeatable)")
    add_json(parser)
    add_reading(parser)
    add_skip_bad(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Print rows, or the Version 0 object."""
    for name in ("start", "count"):
        if (getattr(arguments, name) or 0) < 0:
            raise RefbrowserError(ErrorKind.USAGE, f"--{name} must not be below 0")
    document = open_document(arguments.path, arguments, token).document.written()
    whole = arguments.start is None and arguments.count is None and arguments.key is None
    if arguments.key is None:
        start, stop = _window(document, arguments)
        _check_size(stop - start, arguments)
    if not arguments.skip_bad:
        _check_rows(document, whole)
    if whole and not arguments.json:
        _write_object(document, arguments.skip_bad, token)
    else:
        _write_rows(document, arguments, whole, token)
    return 0


def _write_rows(document: Document, arguments: argparse.Namespace, whole: bool, token: CancelToken) -> None:
    from refbrowser.references.content.expansion_faults import LeftOut, expansion_faults
    from refbrowser.references.content.finding_places import as_known

    if arguments.count != 0:
        _tell_warnings(document, whole)
    left_out = LeftOut.of(document) if arguments.skip_bad else LeftOut()
    if arguments.skip_bad:
        tell_findings(as_known(document, expansion_faults(document)))
    if arguments.json:
        _write_json(document, arguments, left_out, token)
    elif arguments.count == 0:
        write_line(str(document.expansion.rows))
    else:
        for item in _items(document, arguments, left_out, token):
            write_json(item)
    _tell_left_out(document, left_out)


def _check_rows(document: Document, whole: bool) -> None:
    """Raise for rows that are not there and not counted; where all of it is asked for, for all it lacks."""
    from refbrowser.references.content.expansion_faults import expansion_faults

    for finding in expansion_faults(document) if whole else ():
        raise finding.error()
    for error in document.expansion.lost_rows():
        raise error


def _tell_warnings(document: Document, whole: bool) -> None:
    from refbrowser.references.content.finding_places import as_known
    from refbrowser.references.findings.rule_findings import all_findings

    # A few rows of a large document do not wait for a look at all of its rules; `check` does that.
    few = not whole and document.expansion.rows > MOST_CHECKED
    findings = as_known(document, document.findings if few else all_findings(document))
    tell_findings(finding for finding in findings if finding.severity is Severity.WARNING)


def _tell_left_out(document: Document, left_out: LeftOut) -> None:
    """Count what is not in what was written."""
    if str(left_out):
        tell_warning(RefbrowserError(ErrorKind.REF, f"left out: {left_out}", Place(document=document.name)))


def _window(document: Document, arguments: argparse.Namespace) -> tuple[int, int]:
    rows = document.expansion.rows
    start = min(arguments.start or 0, rows)
    return start, rows if arguments.count is None else min(start + arguments.count, rows)


def _check_size(rows: int, arguments: argparse.Namespace) -> None:
    if rows <= LIMITS.write_out_question:
        return
    error = RefbrowserError(
        ErrorKind.BUDGET,
        f"{rows} rows would be written, more than {LIMITS.write_out_question} (write_out_question)",
        Place(document=arguments.path),
        "give --yes, or --start and --count",
    )
    if not ask(arguments, error):
        raise error


def _write_object(document: Document, skip_bad: bool, token: CancelToken) -> None:
    from refbrowser.references.content.finding_places import as_known
    from refbrowser.references.content.version0 import Version0
    from refbrowser.references.findings.rule_findings import all_findings

    def blocks() -> Iterator[bytes]:
        for block in made.chunks():
            token.check()
            yield block

    made = Version0(document.expansion, skip_bad)
    # What is a fault and did not end this is told as well: it is in the text, and cannot be read.
    tell_findings(as_known(document, all_findings(document)))
    write_bytes(blocks())
    _tell_left_out(document, made.left_out)


def _write_json(
    document: Document, arguments: argparse.Namespace, left_out: LeftOut, token: CancelToken
) -> None:
    expansion = document.expansion
    counts = {"rows": expansion.rows, "refs": expansion.refs_rows, "gen": list(expansion.gen_rows)}
    start, stop = _window(document, arguments)
    items = _items(document, arguments, left_out, token)
    if arguments.key is not None or stop - start <= LIMITS.write_out_question:
        write_json(counts | {"items": list(items)})
    else:
        write_bytes(_streamed(counts, items))


def _streamed(counts: dict[str, Any], items: Iterator[list[Any]]) -> Iterator[bytes]:
    """Yield the JSON object with its items one by one: there are more than memory should hold."""
    yield json.dumps(counts).encode()[:-1] + b', "items": ['
    before = b""
    for item in items:
        yield before + json.dumps(item).encode()
        before = b", "
    yield b"]}\n"


def _items(
    document: Document, arguments: argparse.Namespace, left_out: LeftOut, token: CancelToken
) -> Iterator[list[Any]]:
    """Yield the items asked for; a faulty one is an error, or left out with a warning and counted."""
    from refbrowser.references.content.expansion import REFS

    if arguments.key is not None:
        yield from (_item_of_key(document, key, arguments.skip_bad) for key in arguments.key)
        return
    start, stop = _window(document, arguments)
    for first in range(start, stop, PAGE):
        token.check()
        page = document.expansion.items(first, min(first + PAGE, stop))
        for position, key in enumerate(page.keys):
            if position in page.errors:
                if not arguments.skip_bad:
                    raise page.errors[position]
                tell_warning(page.errors[position])
                if page.origins[position] == REFS:
                    left_out.entries += 1
                else:
                    left_out.rows += 1
                continue
            yield [first + position, key, _value(document, first + position)]


def _item_of_key(document: Document, key: str, skip_bad: bool) -> list[Any]:
    from refbrowser.references.rules.layouts import NotDecided

    row = document.expansion.find(key)
    lost = document.expansion.lost(key) if row is None else None
    if lost is not None:
        if not skip_bad:
            raise lost
        tell_warning(lost)
    if isinstance(row, NotDecided):
        return [None, key, {"not_decided": row.rows_checked}]
    return [row, key, None if row is None else _value(document, row)]


def _value(document: Document, row: int) -> Any:
    """Return the Version 0 value of a row: text as the document has it, or a list with the URL."""
    from refbrowser.model.reference import ByteRange, Inline, WholeFile

    expansion = document.expansion
    found = expansion.item(row)[1]
    if isinstance(found, RefbrowserError):
        raise found
    if isinstance(found, ByteRange):
        return [found.url, found.offset, found.length]
    if isinstance(found, WholeFile):
        return [found.url]
    assert isinstance(found, Inline)
    return _inline_text(document, expansion.origin(row)[1], found)


def _inline_text(document: Document, position: int, found: Any) -> str:
    text = json.loads(document.refs.value_text(document.refs.slot(position)))
    if isinstance(text, str):
        return text
    # An object stands for its JSON text.
    try:
        return str(found.data.decode("utf-8"))
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(found.data).decode("ascii")
