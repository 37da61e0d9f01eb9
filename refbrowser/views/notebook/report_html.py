"""What came of some work as a notebook shows it: the verdict first, then the first of all that it counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from itertools import islice

from refbrowser.engine.audit.audit_result import AuditResult, FindingGroup
from refbrowser.engine.comparing.differences import ArrayComparison, Comparison, Difference, Equality
from refbrowser.exporting.request import ExportReport
from refbrowser.markup import Content, Markup, element, table
from refbrowser.model.report import Report
from refbrowser.references.edits.compare import Side
from refbrowser.views.chunks.states_drawing import layout_rules, state_rules, states_drawing
from refbrowser.views.notebook.node_parts import pair_table
from refbrowser.views.notebook.theme import GAP, head, kind_of, more_words, part, shown, themed
from refbrowser.views.reports.finding_words import place_words
from refbrowser.views.reports.verdict_states import audit_state, comparison_state
from refbrowser.words import counted, counted_spaced, size_text

#: Groups of findings, findings of one, differences, arrays, lines of one kind that are shown.
_GROUPS, _FINDINGS, _DIFFERENCES, _ARRAYS, _LINES = 20, 8, 30, 30, 20
#: Grids that are drawn of a comparison, and cells of one along each side.
_DRAWN, _CELLS = 2, 24
_STATES = layout_rules("var(--rb-line)", ".rb") + themed(
    lambda is_dark, place: state_rules(is_dark=is_dark, within=place)
)
#: Characters of a value that differs, and of a file in a title.
_VALUE, _URL = 200, 48
#: Lines of a report that has no form of its own.
_MOST_LINES = 60


@singledispatch
def report_html(report: Report) -> str:
    """Return a report as HTML; one without a form of its own as its lines."""
    lines = [line for text in islice(report.lines(), _MOST_LINES) for line in text.split("\n")]
    return shown(
        element("div", lines[:1], class_="rb-head"),
        element("pre", "\n".join(lines[1:_MOST_LINES])) if len(lines) > 1 else "",
    )


def _rows(headings: Sequence[str], rows: Iterable[Sequence[Content]], more: int) -> Markup:
    """Return a table of the first of something, and how many more there are; nothing without any.

    Columns that say nothing are left out.
    """
    shown_rows = list(rows)
    if not shown_rows:
        return Markup("")
    said = [column for column in range(len(headings)) if any(row[column] != "" for row in shown_rows)]
    return element(
        "div",
        table(
            [headings[column] for column in said],
            ([row[column] for column in said] for row in shown_rows),
            class_="rb-pairs rb-rows",
        ),
        more_words(more),
    )


def _verdict_head(kind: str, words: str, state: str, *more: str) -> Markup:
    return element(
        "div", kind_of(kind), _verdict(words, state), [[GAP, each] for each in more if each], class_="rb-head"
    )


def _verdict(words: str, state: str) -> Markup:
    return element("b", words, class_=f"rb-{state}")


# An audit


@report_html.register
def audit_html(result: AuditResult) -> str:
    """Return the result of an audit: its groups, faults first, each to be unfolded."""
    words = f"{counted_spaced(result.faults, 'fault')}, {counted_spaced(result.warnings, 'warning')}"
    looked = f"{counted_spaced(result.urls, 'file')} asked about" if result.level.asks else ""
    read = f"{counted_spaced(result.chunks, 'chunk')} read" if result.level.reads else ""
    more = len(result.groups) - _GROUPS
    return shown(
        _verdict_head("Audit", words, audit_state(result), str(result.level), looked, read),
        "" if result.is_complete else element("p", "Not finished: these are the findings so far."),
        [_group(group, number == 0) for number, group in enumerate(result.groups[:_GROUPS])],
        more_words(more, "more group"),
        _blocked(result),
        _notes(result),
    )


def _group(group: FindingGroup, is_open: bool) -> Markup:
    state, word = ("fault", "Fault") if group.is_fault else ("warning", "Warning")
    title = [
        _verdict(word, state),
        f" {group.kind.title}: {counted_spaced(group.count, 'place')} ",
        element("code", group.code, class_="rb-soft"),
        [" ", element("code", f"…{group.url[-_URL:]}" if len(group.url) > _URL else group.url)],
    ]
    told = group.findings[:_FINDINGS]
    rows = [(element("code", place_words(each)), each.message, each.advice) for each in told]
    meaning = f"For readers: {group.kind.meaning}" if group.kind.meaning else ""
    return part(
        title,
        element("p", element("code", group.url)) if group.url else "",
        element("p", meaning, class_="rb-soft") if meaning else "",
        _rows(("Where", "What", "What to do"), rows, group.count - sum(each.count for each in told)),
        element("p", "refbrowser.fix can repair it.", class_="rb-soft") if group.has_fix else "",
        is_open=is_open,
    )


def _blocked(result: AuditResult) -> Markup:
    rows = [
        (element("code", str(each.origin)), counted_spaced(each.urls, "file"), element("code", each.advice))
        for each in result.blocked[:_LINES]
    ]
    if not rows:
        return Markup("")
    title = f"Not checked: {counted_spaced(len(result.blocked), 'place')} to be allowed"
    return part(title, _rows(("Place", "Files", "How to allow it"), rows, len(result.blocked) - len(rows)))


def _notes(result: AuditResult) -> Markup:
    rows = [(note.reader, note.message, f"{note.count:,}") for note in result.notes[:_LINES]]
    if not rows:
        return Markup("")
    listed = _rows(("Reader", "What it does", "References"), rows, len(result.notes) - len(rows))
    title = f"Other software reads it differently: {counted_spaced(len(result.notes), 'note')}"
    return part(title, listed, is_open=False)


# A comparison


@report_html.register
def comparison_html(comparison: Comparison) -> str:
    """Return a comparison: the verdict, what differs, and what is known of each array."""
    counts = [
        f"{count:,} {noun}"
        for count, noun in (
            (comparison.chunks_different, "chunks with other references"),
            (comparison.values_different, "values differ"),
            (comparison.undecided, "not decided"),
        )
        if count
    ]
    return shown(
        _verdict_head("Comparison", str(comparison.verdict), comparison_state(comparison), *counts),
        pair_table(
            (name, [element("code", what), " ", element("span", form, class_="rb-soft")])
            for name, what, form in (
                ("here", comparison.here, comparison.format_here),
                ("there", comparison.there, comparison.format_there),
            )
        ),
        [element("p", note, class_="rb-soft") for note in comparison.notes[:_LINES]],
        _differences(comparison),
        _compared_arrays(comparison.arrays),
        _states(comparison.arrays),
        sheet=_STATES,
    )


def _differences(comparison: Comparison) -> Markup:
    found = comparison.differences
    if not found:
        return Markup("")
    rows = [
        (
            element("code", each.path or "the document"),
            _what(each),
            _side(each.here, each.side is Side.THERE, "not here"),
            _side(each.there, each.side is Side.HERE, "not there"),
        )
        for each in found[:_DIFFERENCES]
    ]
    listed = _rows(("Where", "What", "Here", "There"), rows, len(found) - len(rows))
    return part(counted_spaced(len(found), "difference"), listed)


def _what(difference: Difference) -> Content:
    """Return what differs: its name, and of which kind it is where that does not tell."""
    kind, name = str(difference.kind), difference.name
    if not name or kind.startswith(name):
        return name or kind.removesuffix("s")
    return [name, " ", element("span", kind, class_="rb-soft")]


def _side(text: str, is_absent: bool, words: str) -> Markup:
    if is_absent:
        return element("span", words, class_="rb-soft")
    return element("code", text if len(text) <= _VALUE else f"{text[:_VALUE]}…")


def _compared_arrays(arrays: Sequence[ArrayComparison]) -> Markup:
    if not arrays:
        return Markup("")
    # Those that differ first: they are what is looked for.
    order = sorted(arrays, key=lambda each: each.verdict is not Equality.DIFFERENT)
    rows = [
        (
            element("code", each.path),
            element(
                "span",
                str(each.verdict),
                class_="rb-fault" if each.verdict is Equality.DIFFERENT else "rb-good",
            ),
            f"{each.chunks.different:,}" if each.chunks.different else "",
            f"{each.values.different:,}" if each.values is not None and each.values.different else "",
        )
        for each in order[:_ARRAYS]
    ]
    headings = ("Array", "Equality", "Chunks with other references", "Values that differ")
    listed = _rows(headings, rows, len(arrays) - len(rows))
    return part(f"{counted_spaced(len(arrays), 'array')} in both", listed)


def _states(arrays: Sequence[ArrayComparison]) -> Iterator[Markup]:
    """Yield drawings of the chunk grids of the first arrays whose references differ."""
    drawn = (each for each in arrays if each.chunks.different and each.chunks.states is not None)
    for each in islice(drawn, _DRAWN):
        states = each.chunks.states
        if states is not None and states.size:
            counts = f" {each.chunks.different:,} of {counted(states.size, 'chunk')} differ"
            title = [element("code", each.path), counts]
            yield part(title, states_drawing(states, f"states of the chunks of {each.path}", _CELLS))


# An export


@report_html.register
def export_html(report: ExportReport) -> str:
    """Return what an export did: what was written and checked, what was not kept, and how it is opened."""
    is_whole = not report.losses and not report.skipped
    return shown(
        head(
            "Export",
            report.target,
            report.format,
            _verdict("all kept" if is_whole else "not all kept", "good" if is_whole else "warning"),
        ),
        pair_table(_counts(report)),
        _lines("Not kept", report.lost),
        _lines("Left out", [error.message for error in report.skipped]),
        [
            element("p", "To open it:", class_="rb-soft"),
            element("pre", "\n".join(report.opened_by[:_LINES])),
        ]
        if report.opened_by
        else "",
    )


def _counts(report: ExportReport) -> Iterator[tuple[str, str]]:
    yield "Arrays", f"{report.arrays:,}"
    missing = f", {report.missing:,} missing" if report.missing else ""
    resumed = f", {report.resumed:,} written before" if report.resumed else ""
    yield "Chunks", f"{report.chunks:,}{missing}{resumed}"
    if report.copied:
        yield "Copied undecoded", f"{report.copied:,}"
    if report.verified:
        yield "Verified", f"{report.verified:,}"
    yield "Written", size_text(report.written_bytes)
    yield "Read", f"{size_text(report.read_bytes)} in {counted_spaced(report.requests, 'request')}"


def _lines(title: str, lines: Sequence[str]) -> Markup:
    if not lines:
        return Markup("")
    listed = [element("p", line) for line in lines[:_LINES]]
    return part(f"{title}: {len(lines):,}", listed, more_words(len(lines) - len(listed)))
