"""A gen rule as JSON text, with the faults of its fields underlined where they stand in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from refbrowser.app.editors.code_field import FaultSpan
from refbrowser.app.editors.draft import RuleDraft, json_reason
from refbrowser.app.editors.json_field import JsonField
from refbrowser.app.editors.names import Names
from refbrowser.app.editors.rows import OutcomeLine
from refbrowser.app.widgets import theme

if TYPE_CHECKING:
    from refbrowser.app.editors.rule_outcome import RuleOutcome
    from refbrowser.references.text.json_text import Node


class RuleJson(QWidget):
    """The text of one rule; what is wrong with it stands beneath.

    Signals
    -------
    edited(str)
        The text after each change.
    """

    edited = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = JsonField("genJsonField", "Gen rule as JSON")
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.field.edited.connect(self.edited)
        self.outcome = OutcomeLine("genJsonOutcome", lines=2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, 0, theme.MEDIUM, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.outcome)
        self.setFocusProxy(self.field)

    def set_names(self, names: Names) -> None:
        """Set what can be named in the jinja strings."""
        self.field.set_names(names)

    def show_member(self, name: str, span: tuple[int, int] | None = None) -> None:
        """Put the keyboard and the cursor where a member stands; with ``json`` where the text is wrong."""
        self.field.setFocus()
        faults = self.field.fault_spans()
        if name == "json" and span is not None:
            self.field.show_place(span[0])
        elif faults and span is not None:
            self.field.show_place(faults[0].start)
        else:
            self.field.show_place(max(0, self.field.text().find(f'"{name}"')))

    def show_outcome(self, draft: RuleDraft, outcome: RuleOutcome) -> None:
        """Underline the faults of a rule, and tell the reason of the first."""
        if draft.fault is not None:
            spans = [FaultSpan(*(draft.fault.place.span or (0, len(self.field.text()))))]
            reason = json_reason(draft.fault)
            if draft.fault.advice:
                reason = f"{reason}. {draft.fault.advice}"
        else:
            found = list(faults_in(self.field.text(), draft, outcome))
            spans = [span for span, _reason in found]
            reason = "" if not found else self._with_place(*found[0])
        self.field.set_faults(spans, reason)
        if reason:
            self.outcome.show_fault(reason)
        else:
            self.outcome.show_result(result_words(outcome))

    def _with_place(self, span: FaultSpan, reason: str) -> str:
        text = self.field.text()
        line = text.count("\n", 0, span.start) + 1
        column = span.start - (text.rfind("\n", 0, span.start) + 1) + 1
        return f"line {line}, column {column}: {reason}"


def result_words(outcome: RuleOutcome) -> str:
    """Return what a rule yields in the row at hand, as its reference."""
    key, url, offset, length = (outcome.fields[name].text for name in ("key", "url", "offset", "length"))
    part = f", {offset}, {length}" if offset.isdigit() else ""
    return f"{key}: [{url}{part}]"


def faults_in(text: str, draft: RuleDraft, outcome: RuleOutcome) -> Iterator[tuple[FaultSpan, str]]:
    """Yield where in the JSON text of a rule its faults are, and each reason."""
    from refbrowser.references.text.json_text import JsonError, parse

    data = text.encode("utf-8", "surrogatepass")
    try:
        node = parse(data)
    except JsonError:
        return

    def span(start: int, stop: int) -> FaultSpan:
        before, inside = data[:start].decode("utf-8", "replace"), data[start:stop].decode("utf-8", "replace")
        return FaultSpan(len(before), len(before) + len(inside))

    for name, result in outcome.fields.items():
        if not result.fault:
            continue
        value = node.member(name)
        reason = f"{name}: {result.fault}"
        if value is None:
            yield FaultSpan(0, 1), reason
            continue
        whole = span(value.start, value.stop)
        if text[whole.start + 1 : whole.stop - 1] != value.content or not result.spans:
            yield whole, reason
            continue
        for part in result.spans:
            yield FaultSpan(whole.start + 1 + part.start, whole.start + 1 + part.stop), reason
    for (number, column), reason in outcome.cells.items():
        place = _cell(node.member("dimensions") or node, number, column)
        yield span(*place), reason
    if outcome.dimensions_fault and not outcome.cells:
        where = node.member("dimensions") or node
        yield span(where.start, where.stop), outcome.dimensions_fault


def _cell(dimensions: Node, number: int, column: str) -> tuple[int, int]:
    """Return where a cell of the table of dimensions stands, in bytes."""
    if not 0 <= number < len(dimensions.members):
        return dimensions.start, dimensions.stop
    member = dimensions.members[number]
    if column == "name":
        return member.start, member.key_stop
    value = member.value.member(column) or member.value
    return value.start, value.stop
