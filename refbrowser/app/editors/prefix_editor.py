"""The editor of what URLs begin with, and examples of the URLs that it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSizePolicy, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.editors.form import EditorForm
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.rows import OutcomeLine, TextLine, named
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.views.editing.field_drafts import PrefixDraft
from refbrowser.views.editing.preview import NoSource
from refbrowser.views.editing.typed_input import DraftKind, Typed
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, plural

if TYPE_CHECKING:
    from refbrowser.references.content.url_prefixes import PrefixScope
    from refbrowser.references.document.document import Document
    from refbrowser.views.editing.prefix_changes import PrefixChanges, Suggestion


#: Marks of the three lines of an example, which tell them apart without colour.
NAME, BEFORE, AFTER = "", "−", "+"


class ExampleLines(QWidget):
    """Lines in threes: a name, the URL that was, the URL that will be; cut in the middle where long."""

    def __init__(self, name: str, room: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._room = room
        self._lines: list[tuple[str, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_examples(self, examples: list[tuple[str, str, str]]) -> None:
        """Show name, URL before and URL after of some things."""
        self._lines = []
        for name, before, after in examples[: self._room]:
            self._lines += [(NAME, name), (BEFORE, before)]
            self._lines += [(AFTER, after)] if after != before else []
        self.setAccessibleName("Examples" if examples else "")
        self.setAccessibleDescription(self.text())
        self.setToolTip(theme.plain_tooltip(self.text()) if examples else "")
        self.setVisible(bool(examples))
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """Return what is shown, a line each."""
        return "\n".join(f"{mark} {text}".strip() for mark, text in self._lines)

    def sizeHint(self) -> QSize:
        return QSize(160, len(self._lines) * self._line_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.sizeHint().height())

    def _line_height(self) -> int:
        return QFontMetrics(theme.mono_font()).height() + 2

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        scheme, mono = theme.colors(), theme.mono_font()
        bold = QFont(mono)
        bold.setBold(True)
        inks = {NAME: scheme.text, BEFORE: scheme.muted, AFTER: scheme.changed}
        height = self._line_height()
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        for number, (mark, text) in enumerate(self._lines):
            painter.setFont(bold if mark == AFTER else mono)
            painter.setPen(QColor(inks[mark]))
            left = theme.SMALL + (2 * theme.MEDIUM if mark else 0)
            box = QRect(left, number * height, self.width() - left, height)
            if mark:
                painter.drawText(box.translated(-theme.MEDIUM - theme.SMALL, 0), flags, mark)
            shown = painter.fontMetrics().elidedText(
                one_line(text), Qt.TextElideMode.ElideMiddle, box.width()
            )
            painter.drawText(box, flags, shown)


#: What changes is counted after this pause in typing, in milliseconds.
PAUSE = 60
ALL, ALL_MADE, PATTERN = "All keys, templates and gen rules", "All keys", "Keys that fit a pattern"
#: What references, templates and gen rules are called: where somebody wrote them, and where nobody did.
WRITTEN, MADE = ("reference", "template", "gen rule"), ("reference", "place", "array")
#: A part whose typing is gone on with.
CHOSEN = "The part that was chosen"


class PrefixEditor(EditorForm):
    """*In*, *from* and *to*, with a live count of what would change and examples; one step when applied.

    Signals
    -------
    changesWanted()
        The user wants to see which keys changed.
    """

    changesWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("urlPrefix", "URL prefix", parent)
        self.setObjectName("urlPrefixEditor")
        self.setAccessibleName("Replace URL prefix")
        self._document: OpenDocument | None = None
        self._seen: object = None
        self._changes: PrefixChanges | None = None
        self._scopes: list[tuple[str, PrefixScope | None]] = []
        self._note: tuple[PrefixScope, str] | None = None
        self._is_wanted = False
        self._latest = Latest(self, "url prefix")
        self._build()
        self.setFocusProxy(self._old)
        self._pause = one_shot(self, PAUSE, self._count)
        self.applyWanted.connect(self.replace)
        self.resetWanted.connect(self.reset)
        self.apply_button.setText("Re&place")
        self.apply_button.setAccessibleName("Replace the prefix of these URLs")
        self.show_pending("Replace URL prefix", pending=False, can_apply=False, moved_on=False)

    def _build(self) -> None:
        self._scope = named(QComboBox(), "urlPrefixScope", "Where URLs are replaced")
        self._scope.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._scope.setMinimumContentsLength(12)
        self._scope.activated.connect(self._scope_chosen)
        self.add_label(0, "&In", self._scope)
        self.grid.addWidget(self._scope, 0, 1)
        self.grid.setRowMinimumHeight(1, theme.SMALL)
        self._keys, self._keys_label = self._line(
            2, "Pa&ttern", "urlPrefixKeys", "such as temp/* or */.zarray"
        )
        self._old, _ = self._line(4, "&From", "urlPrefixOld", "what the URLs begin with now")
        self._old_outcome = OutcomeLine("urlPrefixOldOutcome")
        self.grid.addWidget(self._old_outcome, 5, 1)
        self._new, _ = self._line(6, "T&o", "urlPrefixNew", "what it becomes")
        self._outcome = OutcomeLine("urlPrefixOutcome")
        self.grid.addWidget(self._outcome, 7, 1)
        self._elsewhere = OutcomeLine("urlPrefixElsewhere")
        self.grid.addWidget(self._elsewhere, 8, 1)
        self._examples = ExampleLines("urlPrefixExamples", 3)
        self.grid.addWidget(self._examples, 9, 0, 1, 2)
        self._show_changed = named(
            QPushButton("Show the keys that &changed"), "urlPrefixShowChanged", "Show the keys that changed"
        )
        self._show_changed.clicked.connect(self.changesWanted)
        self._show_changed.hide()
        self.grid.addWidget(self._show_changed, 10, 1)
        self.grid.setRowStretch(11, 1)

    def _line(self, row: int, label: str, name: str, hint: str) -> tuple[TextLine, QLabel]:
        title = label.replace("&", "").lower()
        field = named(TextLine(), name, f"Replace URL prefix: {title}")
        field.setPlaceholderText(hint)
        field.setFont(theme.mono_font())
        field.textEdited.connect(lambda _text: self._typed())
        found = self.add_label(row, label, field)
        self.grid.addWidget(field, row, 1)
        field.returnPressed.connect(self._return_pressed)
        return field, found

    def _return_pressed(self) -> None:
        """Replace, at once or as soon as it is counted what changes."""
        self._is_wanted = self._changes is None
        self.replace()

    # What is shown

    def set_document(self, document: OpenDocument | None) -> None:
        """Act on another document, or on none."""
        if document is self._document:
            return
        if self._document is not None:
            self._document.documentChanged.disconnect(self._changed_beneath)
            drafts_of(self._document).applied.disconnect(self.take_applied)
            self._latest.cancel()
        self._document = document
        if document is not None:
            document.documentChanged.connect(self._changed_beneath)
            drafts_of(document).applied.connect(self.take_applied)
        self._note = None
        self.status.clear()
        for field in (self._old, self._new, self._keys):
            field.clear()
        self._set_scopes([], None)
        self._follow()

    def begin(
        self,
        document: OpenDocument,
        scopes: list[tuple[str, PrefixScope]],
        chosen: PrefixScope,
        old: str = "",
    ) -> None:
        """Begin a replacement; the keyboard is where the other beginning goes.

        Parameters
        ----------
        scopes
            Parts of the document that are selected somewhere in the window, and what they are called.
        chosen
            The part to begin with.
        old
            What URLs begin with; what those of the part have in common when empty.
        """
        is_other = document is not self._document
        self.set_document(document)
        typed = drafts_of(document).field(DraftKind.PREFIX, None)
        if is_other and isinstance(typed, PrefixDraft):
            # Nothing that was typed is lost by looking at another document.
            self.show_typed(document, typed)
            return
        self._seen = document.document
        self._note = None
        self._set_scopes(scopes, chosen)
        self._old.setText(old)
        if old:
            self._new.setText(old)
            self._typed()
        else:
            self._suggest()
        self._new.setFocus()
        self._new.selectAll()

    def _set_scopes(self, scopes: list[tuple[str, PrefixScope]], chosen: PrefixScope | None) -> None:
        from refbrowser.references.content.url_prefixes import PrefixScope

        document = None if self._document is None else self._document.document
        whole = ALL_MADE if document is not None and document.rules_are_made else ALL
        self._scopes = [(whole, PrefixScope()), *scopes, (PATTERN, None)]
        self._scope.clear()
        for title, _scope in self._scopes:
            self._scope.addItem(one_line(title))
        numbers = [number for number, (_title, scope) in enumerate(self._scopes) if scope == chosen]
        self._scope.setCurrentIndex(numbers[0] if numbers else 0)
        self._show_pattern()

    def scope(self) -> PrefixScope:
        """Return the part of the document that is chosen."""
        from refbrowser.references.content.url_prefixes import PrefixScope, ScopeKind

        number = max(0, self._scope.currentIndex())
        found = self._scopes[number][1] if self._scopes else PrefixScope()
        return PrefixScope(ScopeKind.PATTERN, self._keys.text().strip() or "*") if found is None else found

    def _show_pattern(self) -> None:
        is_pattern = self._scope.currentText() == PATTERN
        self._keys.setVisible(is_pattern)
        self._keys_label.setVisible(is_pattern)

    def _scope_chosen(self) -> None:
        self._show_pattern()
        if self._scope.currentText() == PATTERN:
            self._keys.setFocus()
            self._typed()
        elif self._old.text() == "" or self._new.text() in ("", self._old.text()):
            self._suggest()
        else:
            self._typed()

    # The prefix that is likely meant

    def _suggest(self) -> None:
        """Look for what the URLs of the part have in common."""
        opened, scope = self._document, self.scope()
        document = None if opened is None else opened.document
        if opened is None or document is None:
            return
        # What would be counted after a pause that has begun would take the place of this.
        self._pause.stop()

        def find(control: TaskControl) -> Suggestion:
            from refbrowser.views.editing.prefix_changes import suggested_prefix

            return suggested_prefix(document, scope, control.check)

        self._latest.run(
            opened,
            "Look for the prefix of URLs",
            find,
            lambda found: self._take_suggestion(document, found),
        )

    def _take_suggestion(self, document: Document, found: Suggestion) -> None:
        from refbrowser.views.editing.prefix_changes import template_name

        if found.scope != self.scope():
            name = template_name(document, found.scope.text)
            title = f"{name[0].upper()}{name[1:]}"
            known = [number for number, (_title, scope) in enumerate(self._scopes) if scope == found.scope]
            if not known:
                self._scopes.insert(len(self._scopes) - 1, (title, found.scope))
                self._scope.insertItem(len(self._scopes) - 2, one_line(title))
                known = [len(self._scopes) - 2]
            self._scope.setCurrentIndex(known[0])
            article = "the " if document.rules_are_made else ""
            self._note = (found.scope, f"the chosen URLs begin with {article}{name}")
        self._old.setText(found.prefix)
        self._new.setText(found.prefix)
        self._new.selectAll()
        self._typed()
        if not found.prefix:
            self._old_outcome.show_warning("these URLs have no common prefix")

    # Counting

    def _changed_beneath(self) -> None:
        if self._document is not None and self._document.document is not self._seen:
            self._seen = self._document.document
            self.status.clear()
            if self._old.text() and self._old.text() == self._new.text():
                # Nothing is typed yet: begin with what URLs have in common now, as after Undo.
                self._suggest()
            else:
                self._typed()

    def _typed(self) -> None:
        if self._document is not None:
            draft = PrefixDraft(self._old.text(), self._new.text(), self.scope())
            drafts_of(self._document).put_field(DraftKind.PREFIX, None, draft)
        self._follow()

    def _follow(self) -> None:
        """Count anew what would change."""
        self._changes, self._is_wanted = None, False
        self._show_changed.hide()
        self._outcome.clear()
        self._elsewhere.clear()
        self._old_outcome.clear()
        if self._note is not None and self._note[0] == self.scope():
            self._old_outcome.show_result(self._note[1])
        self._show_state()
        self._latest.cancel()
        if self._old.text():
            self._pause.start()
        else:
            self._pause.stop()
            self._examples.set_examples([])
            self.publish(self._document, NoSource())
            if self._document is not None:
                self._old_outcome.show_warning("type what the URLs begin with now")

    def _count(self) -> None:
        opened, old, new, scope = self._document, self._old.text(), self._new.text(), self.scope()
        document = None if opened is None else opened.document
        if opened is None or document is None:
            return

        def count(control: TaskControl) -> tuple[PrefixChanges, str]:
            from refbrowser.views.editing.prefix_changes import mistake_in, prefix_changes

            changes = prefix_changes(document, old, new, scope, control.check)
            return changes, mistake_in(document, changes)

        self._latest.run(
            opened,
            "Count the URLs that change",
            count,
            lambda found: self._show_count(document, *found),
            lambda error: self._outcome.show_fault(str(error)),
        )

    def _show_count(self, document: Document, changes: PrefixChanges, mistake: str) -> None:
        from refbrowser.views.editing.prefix_changes import PrefixSource

        if self._document is None or self._document.document is not document:
            return
        is_made = document.rules_are_made
        parts = counted(document, changes)
        examples = [
            (one.name, document.shown_url(one.before), document.shown_url(one.after))
            for one in changes.examples
        ]
        self._examples.set_examples(examples)
        if not parts:
            self._old_outcome.show_warning("no URL begins with this text")
        elif mistake:
            self._outcome.show_fault(mistake)
        elif changes.edit.old == changes.edit.new:
            self._outcome.show_result(f"{parts} {plural(changes.count, 'begins', 'begin')} this way")
        else:
            used = f", used {count_text(changes.uses)} times" if changes.templates else ""
            words = f"{parts} {plural(changes.count, 'changes', 'change')}{used}"
            if changes.edit.new:
                self._outcome.show_result(words)
            else:
                self._outcome.show_warning(f"{words}: the prefix is removed and nothing replaces it")
            self._changes = changes
        if changes.elsewhere:
            one, many = ("place", "places") if is_made else ("template or rule", "templates or rules")
            nouns = plural(changes.elsewhere, f"{one} begins", f"{many} begin")
            self._elsewhere.show_warning(f"{count_text(changes.elsewhere)} other {nouns} so")
        self._show_state()
        none = NoSource(hint="No URL begins with the text to replace.")
        self.publish(self._document, PrefixSource(document, changes) if parts else none)

        if self._is_wanted:
            self.replace()

    @property
    def is_pending(self) -> bool:
        """Whether something is typed that would be replaced."""
        return self._old.text() not in ("", self._new.text())

    def field_of(self, name: str) -> QWidget:
        """Return the field of what is replaced, or of what it becomes."""
        return self._new if name == "new" else self._old

    def _show_state(self) -> None:
        can_apply = self._changes is not None
        self.show_pending("Replace URL prefix", pending=self.is_pending, can_apply=can_apply, moved_on=False)

    # Acting

    def replace(self) -> None:
        """Make the replacement one step of the history."""
        changes, document = self._changes, self._document
        state = None if document is None else document.document
        if changes is None or document is None or state is None:
            return
        self._changes = None
        self._show_state()
        parts = counted(state, changes)
        document.apply_later(changes.edit, lambda: self._replaced(changes, parts))

    def _replaced(self, changes: PrefixChanges, parts: str) -> None:
        """Tell what was done; the fields are ready for the next replacement."""
        self._old.setText(changes.edit.new)
        self.settle()
        self._typed()
        self.status.show_result(f"{parts} changed; Undo takes it back")
        self._show_changed.show()

    def take_applied(self, typed: tuple[Typed, ...]) -> None:
        """Be ready for the next replacement."""
        if any(isinstance(one.draft, PrefixDraft) for one in typed):
            self._old.setText(self._new.text())
            self._typed()
            self.settle()

    def show_typed(self, document: OpenDocument, draft: PrefixDraft) -> None:
        """Go on with what was typed."""
        from refbrowser.references.content.url_prefixes import PrefixScope

        self.set_document(document)
        self._seen, self._note = document.document, None
        self._set_scopes([] if draft.scope == PrefixScope() else [(CHOSEN, draft.scope)], draft.scope)
        self._old.setText(draft.old)
        self._new.setText(draft.new)
        self._typed()
        self._new.setFocus()

    def reset(self) -> None:
        """Take back what is typed as the new beginning."""
        self._new.setText(self._old.text())
        self._typed()
        self._new.setFocus()


def counted(document: Document, changes: PrefixChanges) -> str:
    """Return how many references, templates and gen rules change, by their nouns; nothing where none does."""
    nouns = MADE if document.rules_are_made else WRITTEN
    parts = [
        counted_spaced(number, noun)
        for number, noun in zip(
            (len(changes.slots), len(changes.templates), len(changes.rules)), nouns, strict=True
        )
        if number
    ]
    return ", ".join(parts)
