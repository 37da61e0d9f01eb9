"""The editor of one gen rule: fields, dimensions, or all of it as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JinjaField, JsonField
from refbrowser.app.editors.dimensions_table import DimensionsTable
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.editors.form import EditorForm, access_of, follow
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.rows import Mend, OutcomeLine, named, tool_button
from refbrowser.errors import Severity
from refbrowser.views.editing.preview import NoSource
from refbrowser.views.editing.rule_draft import TEXT_FIELDS, RuleDraft, json_reason, json_text, rule_fields
from refbrowser.views.editing.text_marks import FaultSpan, Names
from refbrowser.words import count_text, counted_plain, counted_spaced

if TYPE_CHECKING:
    from refbrowser.findings.finding import Finding
    from refbrowser.references.content.content import Edit
    from refbrowser.references.text.json_text import Node
    from refbrowser.views.editing.rule_draft import RuleOutcome
    from refbrowser.views.editing.rule_source import RuleSource


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

    def bring_into_view(self, name: str) -> None:
        """Put the cursor where a member is; the keyboard stays where it is."""
        self.field.show_place(max(0, self.field.text().find(f'"{name}"')))

    def show_member(self, name: str, span: tuple[int, int] | None = None) -> None:
        """Put the keyboard and the cursor where a member stands; with ``json`` where the text is wrong."""
        self.field.setFocus()
        faults = self.field.fault_spans()
        if name == "json" and span is not None:
            self.field.show_place(span[0])
        elif faults and span is not None:
            self.field.show_place(faults[0].start)
        else:
            self.bring_into_view(name)

    def show_outcome(self, draft: RuleDraft, outcome: RuleOutcome, more: Told) -> None:
        """Underline the faults of a rule, and tell the reason of the first; where there is none, `more`."""
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
            self.outcome.show_fault(reason, more.mend)
        else:
            more.show(self.outcome, "" if more.words else result_words(outcome))

    def _with_place(self, span: FaultSpan, reason: str) -> str:
        text = self.field.text()
        line = text.count("\n", 0, span.start) + 1
        column = span.start - (text.rfind("\n", 0, span.start) + 1) + 1
        return f"line {line}, column {column}: {reason}"


class Told(NamedTuple):
    """What the checks of rules tell of a field beside its outcome in the row at hand, with what mends it."""

    words: tuple[str, ...] = ()
    is_fault: bool = False
    mend: Mend | None = None

    def show(self, line: OutcomeLine, result: str) -> None:
        """Show it below the field after what the field yields."""
        text = " · ".join(filter(None, (result, *self.words)))
        if self.is_fault:
            line.show_fault(text, self.mend)
        elif self.words:
            line.show_warning(text, self.mend)
        elif text:
            line.show_result(text)
        else:
            line.clear()


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


def _words(finding: Finding) -> str:
    """Return what was found, with the first row that it is about."""
    row = finding.place.row
    return finding.message if row is None else f"row {count_text(row)}: {finding.message}"


LABELS = {"key": "&Key", "url": "&URL", "offset": "&Offset", "length": "&Length"}
#: Width of the buttons over the form, which stand beside the title on small screens too.
BUTTON = 24
NO_RULE = {"key": "", "url": "", "dimensions": {"i": {"stop": 1}}}


class GenEditor(EditorForm):
    """The gen rule at hand as a form or as JSON, parsed and evaluated with each keystroke.

    What is typed is kept for each rule until it is applied or reset, also while another rule is shown.

    Signals
    -------
    ruleChosen(int)
        The user went to another rule from here.
    """

    ruleChosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("gen", "gen rule", parent)
        self.setObjectName("genEditor")
        self.setAccessibleName("Gen rule")
        self._document: OpenDocument | None = None
        self._index = 0
        self._draft: RuleDraft | None = None
        self._row = 0
        self._shown: RuleSource | None = None
        #: What the check of all rows found; nothing before it ended.
        self._found: tuple[Finding, ...] = ()
        self._loading = False
        self._add_header()
        self._fields: dict[str, JinjaField] = {}
        self._outcomes: dict[str, OutcomeLine] = {}
        for number, name in enumerate(TEXT_FIELDS):
            self._add_field(number, name)
        self._add_dimensions(2 * len(TEXT_FIELDS))
        self.grid.setRowStretch(self.grid.rowCount(), 1)
        self._add_json()
        self.setFocusProxy(self._fields["key"])
        self.applyWanted.connect(self.apply)
        self.resetWanted.connect(self.reset)
        self._show_rule()

    # Parts

    def _add_header(self) -> None:
        self._number = named(QSpinBox(), "genRuleNumber", "Number of the gen rule")
        self._number.setKeyboardTracking(False)
        self._number.valueChanged.connect(lambda number: self._choose(number))
        self.header.addWidget(self._number)
        for name, text, hint, clicked, icon in (
            ("genRuleAdd", "+", "Add a gen rule", self.add_rule, ""),
            ("genRuleDuplicate", "", "Duplicate this gen rule", self.duplicate_rule, "copy"),
            ("genRuleRemove", "−", "Remove this gen rule", self.remove_rule, ""),
            ("genRuleUp", "↑", "Move this gen rule up", lambda: self.move_rule(-1), ""),
            ("genRuleDown", "↓", "Move this gen rule down", lambda: self.move_rule(1), ""),
        ):
            button = tool_button(name, text, hint, clicked, icon)
            button.setFixedWidth(BUTTON)
            self.header.addWidget(button)

    def _show_range(self) -> None:
        """Say beside the number which there are; a narrow form has room for the number alone."""
        last = self._number.maximum()
        self._number.setSuffix(f"  (0 to {count_text(last)})" if last else "")
        self.header.activate()
        if self.header.sizeHint().width() > self.header.geometry().width():
            self._number.setSuffix("")
        places = f"0 to {count_text(last)}" if last else "0"
        self._number.setToolTip(f"Gen rule to show, by its place in the document ({places})")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_range()

    def _add_field(self, number: int, name: str) -> None:
        field = JinjaField(f"gen{name.capitalize()}Field", f"{name.capitalize()} of the gen rule")
        field.edited.connect(lambda text: self._typed(name, text))
        field.returnPressed.connect(self.apply_button.click)
        outcome = OutcomeLine(f"gen{name.capitalize()}Outcome")
        self.add_label(2 * number, LABELS[name], field)
        self.grid.addWidget(field, 2 * number, 1)
        self.grid.addWidget(outcome, 2 * number + 1, 1)
        self._fields[name], self._outcomes[name] = field, outcome

    def _add_dimensions(self, row: int) -> None:
        self.dimensions = DimensionsTable()
        self.dimensions.edited.connect(self._dimensions_edited)
        self.dimensions.returnPressed.connect(self.apply_button.click)
        label = QLabel("&Dimensions")
        label.setBuddy(self.dimensions)
        line = QHBoxLayout()
        line.setSpacing(theme.SMALL)
        line.addWidget(label, 1)
        for name, text, hint, clicked in (
            ("genDimensionAdd", "+", "Add a dimension (Insert)", self.dimensions.add),
            ("genDimensionRemove", "−", "Remove the dimension (Delete)", self.dimensions.remove),
            (
                "genDimensionUp",
                "↑",
                "Move the dimension up (Alt+Up)",
                lambda: self.dimensions.move_current(-1),
            ),
            (
                "genDimensionDown",
                "↓",
                "Move the dimension down (Alt+Down)",
                lambda: self.dimensions.move_current(1),
            ),
        ):
            line.addWidget(tool_button(name, text, hint, clicked))
        self._dimensions_outcome = OutcomeLine("genDimensionsOutcome")
        self._unknown = named(QPlainTextEdit(), "genUnknownMembers", "Members that are kept as they are")
        self._unknown.setReadOnly(True)
        self._unknown.setFont(theme.mono_font(-1))
        self._unknown.setTabChangesFocus(True)
        self._unknown.setMaximumHeight(96)
        self._unknown_label = QLabel("Other members (kept as they are)")
        self._unknown_label.setProperty("role", "muted")
        box = QVBoxLayout()
        box.setSpacing(1)
        box.addSpacing(theme.SMALL)
        box.addLayout(line)
        box.addWidget(self.dimensions)
        box.addWidget(self._dimensions_outcome)
        box.addWidget(self._unknown_label)
        box.addWidget(self._unknown)
        holder = QWidget()
        holder.setLayout(box)
        box.setContentsMargins(0, 0, 0, 0)
        self.grid.addWidget(holder, row, 0, 1, 2)

    def _add_json(self) -> None:
        self._json = RuleJson()
        self._json.edited.connect(self._json_typed)
        self.add_page(self._json)
        self._switch = QButtonGroup(self)
        for place, (name, text, hint) in enumerate(
            (("genFormButton", "Form", "Edit as a form"), ("genJsonButton", "JSON", "Edit as JSON text"))
        ):
            button = named(QPushButton(text), name, hint)
            button.setToolTip(hint)
            button.setCheckable(True)
            button.setAutoDefault(False)
            button.clicked.connect(lambda _checked=False, as_json=bool(place): self.show_as_json(as_json))
            self._switch.addButton(button, place)
            self.buttons_line.insertWidget(place, button)
        self._switch.button(0).setChecked(True)

    # What is shown

    @property
    def is_json(self) -> bool:
        """Whether the rule is shown as JSON."""
        return self._switch.checkedId() == 1

    def show_as_json(self, as_json: bool) -> None:
        """Show the rule as JSON or as a form; a text that is no JSON is corrected, or reset, first."""
        broken = self._draft is not None and self._draft.fault is not None
        self._switch.button(int(as_json or broken)).setChecked(True)
        self.show_page(self._json, shown=self.is_json)
        self.setFocusProxy(self._json if self.is_json else self._fields["key"])
        self._show_draft()
        self._follow()
        (self._json.field if self.is_json else self._fields["key"]).setFocus()

    @property
    def index(self) -> int:
        """Number of the rule that is shown, from 0."""
        return self._index

    @property
    def draft(self) -> RuleDraft | None:
        """The rule as it is typed, None where there is none."""
        return self._draft

    @property
    def is_pending(self) -> bool:
        """Whether the shown rule has edits that are not applied."""
        return self._draft is not None and self._draft.is_changed

    def set_rule(self, document: OpenDocument | None, index: int) -> None:
        """Show rule `index` of a document, with what was typed for it before."""
        if document is not self._document:
            follow(self._document, document, self, self._show_rule)
            self._document = document
        self._index = index
        self._row = 0
        self._show_rule()

    def show_field(self, name: str, span: tuple[int, int] | None = None) -> None:
        """Bring a field into view and put the keyboard in it, where it is wrong.

        ``dimensions`` is one too, and ``dimensions/0/stop`` one of its cells.
        """
        if self.is_json:
            self._json.show_member(name.partition("/")[0], span)
            return
        super().show_field(name, span)
        if name.startswith("dimensions/"):
            _, number, column = name.split("/")
            self.dimensions.show_cell(int(number), column)

    def bring_into_view(self, name: str) -> None:
        """Bring a field into view; the keyboard stays where it is."""
        if self.is_json:
            self._json.bring_into_view(name.partition("/")[0])
        else:
            super().bring_into_view(name)

    def field_of(self, name: str) -> QWidget:
        """Return the field of a member of the rule."""
        return (
            self.dimensions if name.startswith("dimensions") else self._fields.get(name, self._fields["key"])
        )

    def show_row(self, row: int) -> None:
        """Show beneath the fields what they yield in this row."""
        self._row = row
        if self._shown is not None:
            self._show_outcome(self._shown)

    def take_findings(self, findings: Iterable[Finding]) -> None:
        """Show beside the fields what the check of all rows found in what is typed, with what mends it."""
        self._found = tuple(each for each in findings if each.place.rule == self._index)
        if self._shown is not None:
            self._show_outcome(self._shown)

    def _choose(self, index: int) -> None:
        if not self._loading and index != self._index:
            self.set_rule(self._document, index)
            self.ruleChosen.emit(index)

    def _rule_count(self) -> int:
        document = None if self._document is None else self._document.document
        return 0 if document is None else len(document.rule_nodes)

    def _show_rule(self) -> None:
        count = self._rule_count()
        self._index = max(0, min(self._index, count - 1))
        document = None if self._document is None else self._document.document
        self._draft = None
        if document is not None and count and self._document is not None:
            pending = drafts_of(self._document).rule(self._index)
            self._draft = pending or RuleDraft.of(rule_fields(document, self._index))
        self._loading = True
        self._number.setMaximum(max(0, count - 1))
        self._number.setValue(self._index)
        self._number.setEnabled(count > 1)
        self._show_range()
        self.body.setEnabled(self._draft is not None)
        self._json.setEnabled(self._draft is not None)
        if self._draft is not None and self._draft.fault is not None and not self.is_json:
            self._switch.button(1).setChecked(True)
            self.show_page(self._json, shown=True)
        self._show_draft()
        self._follow()

    def _show_draft(self) -> None:
        """Put the rule as it is typed in the form, or in the text."""
        self._loading = True
        draft = self._draft or RuleDraft.of({})
        self._json.field.set_text(draft.json() if self._draft is not None and self.is_json else "")
        for name, field in self._fields.items():
            field.set_text(draft.text(name))
        self.dimensions.show_dimensions(draft.dimensions)
        unknown = "\n".join(f"{name}: {json_text(value)}" for name, value in draft.unknown.items())
        self._unknown.setPlainText(unknown)
        self._unknown.setVisible(bool(unknown))
        self._unknown_label.setVisible(bool(unknown))
        self._loading = False

    # Typing

    def _typed(self, name: str, text: str) -> None:
        if not self._loading and self._draft is not None:
            self._keep(self._draft.with_text(name, text))

    def _json_typed(self, text: str) -> None:
        if not self._loading and self._draft is not None:
            self._keep(self._draft.with_json(text))

    def _dimensions_edited(self) -> None:
        if not self._loading and self._draft is not None:
            self._keep(self._draft.with_dimensions(self.dimensions.dimensions()))

    def _keep(self, draft: RuleDraft) -> None:
        self._draft = draft
        if self._document is not None:
            drafts_of(self._document).put_rule(self._index, draft)
        self._follow()

    def _follow(self) -> None:
        """Parse and evaluate what is typed, show the outcome, and hand the rows to the preview."""
        document = None if self._document is None else self._document.document
        draft = self._draft
        if document is None or draft is None or self._document is None:
            self._show_nothing()
            return
        from refbrowser.views.editing.rule_source import RuleSource

        source = RuleSource.of(document, access_of(self._document), self._index, draft.fields())
        self._shown, self._found = source, ()
        for field in self._fields.values():
            field.set_names(source.names)
        self._json.set_names(source.names)
        self._show_outcome(source)
        self.publish(self._document, source)

    def _show_outcome(self, source: RuleSource) -> None:
        """Show what the fields yield in the row at hand, and what is wrong with them."""
        from refbrowser.views.editing.rule_draft import RuleOutcome

        if self._draft is None:
            return
        self._row = min(self._row, max(0, source.count - 1))
        outcome = RuleOutcome.of(source.rule, self._draft, self._row)
        for name, field in self._fields.items():
            result = outcome.fields[name]
            field.set_faults(result.spans, result.fault)
            told = self._told_of(name)
            if result.fault:
                self._outcomes[name].show_fault(result.fault, told.mend)
            else:
                told.show(self._outcomes[name], result.text)
        self.dimensions.show_faults(outcome.cells)
        told = self._told_of("dimensions")
        if outcome.dimensions_fault:
            self._dimensions_outcome.show_fault(outcome.dimensions_fault, told.mend)
        elif outcome.dimensions_warning:
            self._dimensions_outcome.show_warning(outcome.dimensions_warning, told.mend)
        else:
            told.show(self._dimensions_outcome, "")
        if self.is_json:
            self._json.show_outcome(self._draft, outcome, self._told_of(*TEXT_FIELDS, "dimensions"))
        self._show_state(outcome, source.count)

    def _told_of(self, *names: str) -> Told:
        """Return what the checks tell of members of the rule; what is of no member is told with the key."""
        found = []
        for each in self._found:
            member = (each.place.field or "").partition("/")[0]
            if (member if member in (*TEXT_FIELDS, "dimensions") else "key") in names:
                found.append(each)
        edit = next((each.fix for each in found if each.fix is not None), None)
        return Told(
            tuple(_words(each) for each in found),
            any(each.severity is Severity.FAULT for each in found),
            None if edit is None else Mend(edit.title, lambda: self._make(edit)),
        )

    def _make(self, edit: Edit) -> None:
        """Make the edit that mends what was found one step of the history."""
        from refbrowser.references.edits.outer_edits import RemoveRule, SetRule

        if self._document is None or self._draft is None:
            return
        draft, drafts, index = self._draft, drafts_of(self._document), self._index
        # It was made for the rule as it is typed, and takes its place.
        takes = isinstance(edit, SetRule | RemoveRule) and edit.index == index
        if takes:
            drafts.drop_rule(index)
        if self._document.apply(edit):
            if takes:
                self.settle()
        elif takes:
            drafts.put_rule(index, draft)

    def _show_state(self, outcome: RuleOutcome, count: int) -> None:
        rows = counted_spaced(count, "row")
        if count:
            rows += f" · the fields show row {count_text(self._row)}"
        if outcome.fault_count:
            words = counted_plain(outcome.fault_count, "fault")
            self.status.show_fault(f"{rows} · {words}")
        else:
            self.status.show_result(rows)
        moved_on = self._document is not None and drafts_of(self._document).rule_moved_on(self._index)
        self.show_pending("Gen rule", pending=self.is_pending, can_apply=outcome.can_apply, moved_on=moved_on)

    def _show_nothing(self) -> None:
        self._shown, self._found = None, ()
        self.show_pending("Gen rule", pending=False, can_apply=False, moved_on=False)
        self.status.clear()
        for outcome in (*self._outcomes.values(), self._dimensions_outcome):
            outcome.clear()
        if self._document is not None and self._document.document is not None:
            self.status.show_result("The document has no gen rules; + adds one.")
        self.publish(self._document, NoSource())

    # Acting

    def apply(self) -> None:
        """Make what is typed one step of the history."""
        if self._document is None or self._draft is None or not self.apply_button.isEnabled():
            return
        from refbrowser.references.edits.outer_edits import SetRule

        draft, drafts = self._draft, drafts_of(self._document)
        drafts.drop_rule(self._index)
        if not self._document.apply(SetRule(self._index, draft.fields())):
            drafts.put_rule(self._index, draft)
            return
        self.settle()

    def reset(self) -> None:
        """Forget what is typed and show what the document has."""
        if self._document is not None:
            drafts_of(self._document).drop_rule(self._index)
            self._show_rule()
            (self._json.field if self.is_json else self._fields["key"]).setFocus()

    def add_rule(self) -> None:
        """Add an empty rule after this one, as one step of the history."""
        self._insert(NO_RULE)

    def duplicate_rule(self) -> None:
        """Add a rule after this one that is the same, as one step of the history."""
        if self._draft is not None and self._draft.fault is None:
            self._insert(self._draft.fields())

    def _insert(self, fields: Mapping[str, Any]) -> None:
        document = None if self._document is None else self._document.document
        if document is None or self._document is None:
            return
        from refbrowser.references.edits.edits import Compound, SetVersion
        from refbrowser.references.edits.outer_edits import InsertRule

        index = self._index + 1 if self._draft is not None else 0
        edit: Edit = InsertRule(index, fields)
        if document.version != 1:
            edit = Compound(edit.title, (SetVersion(1), edit))
        if self._document.apply(edit):
            self.set_rule(self._document, index)
            self.ruleChosen.emit(index)
            (self._json.field if self.is_json else self._fields["key"]).setFocus()

    def remove_rule(self) -> None:
        """Remove this rule as one step of the history."""
        if self._document is None or self._draft is None:
            return
        from refbrowser.references.edits.outer_edits import RemoveRule

        drafts_of(self._document).drop_rule(self._index)
        self._document.apply(RemoveRule(self._index))

    def move_rule(self, step: int) -> None:
        """Move this rule up (-1) or down (1); later rules replace earlier ones where keys agree."""
        target = self._index + step
        if self._document is None or not 0 <= target < self._rule_count():
            return
        from refbrowser.references.edits.outer_edits import MoveRule

        index, self._index = self._index, target
        if not self._document.apply(MoveRule(index, target)):
            self._index = index
