"""The editor of a node's metadata documents as JSON text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JsonField
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.rows import OutcomeLine, named
from refbrowser.app.widgets.small_widgets import one_shot, plain_label, push_button
from refbrowser.views.editing.text_marks import FaultSpan
from refbrowser.views.editing.typed_input import MetadataDraft, metadata_edit
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.engine.node_metadata import MetadataText

#: Longer texts are shown in part and not edited.
EDITED = 50_000
#: Longer texts are checked off the GUI thread, this long after the last keystroke in milliseconds.
CHECKED_AT_ONCE, PAUSE = 10_000, 120
_WAITING = "Reading…"


class MetadataEditor(QWidget):
    """JSON text of one metadata document at a time; Ctrl+Enter applies it as one step of the history.

    Signals
    -------
    ruleWanted(int)
        The user wants to see the gen rule that makes the document.
    """

    ruleWanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("metadataEditor")
        self.setAccessibleName("Metadata")
        self._document: OpenDocument | None = None
        self._texts: list[MetadataText] = []
        self._draft: MetadataDraft | None = None
        self._loading = False
        self._is_stale = False
        self._checking = Latest(self, "metadata check")
        self._check_timer = one_shot(self, PAUSE, self._check_later)
        self._build()
        self.clear()

    def _build(self) -> None:
        self.keys = named(QComboBox(), "metadataKey", "Metadata document")
        self.keys.setToolTip("Which metadata document is shown")
        self.keys.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.keys.setMinimumContentsLength(8)
        self.keys.setFont(theme.mono_font())
        self.keys.currentIndexChanged.connect(self._key_chosen)
        self.note = plain_label("", role="muted")
        self.note.setObjectName("metadataNote")
        self._go = push_button("Go to the rule", "metadataGoToRule", self._go_to_rule, flat=True)
        self.field = JsonField("metadataText", "Metadata as JSON")
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.field.edited.connect(self._typed)
        self.outcome = OutcomeLine("metadataOutcome", lines=2)
        self.apply_button = named(
            QPushButton("&Apply"), "metadataApplyButton", "Apply the edit of the metadata"
        )
        self.apply_button.setToolTip("Make the edit one step of the history (Ctrl+Enter)")
        self.apply_button.clicked.connect(self.apply)
        self.revert_button = named(
            QPushButton("Re&set"), "metadataRevertButton", "Reset the edit of the metadata"
        )
        self.revert_button.setToolTip("Go back to what the document has")
        self.revert_button.clicked.connect(self.revert)
        for key in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self.apply_button.click)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.revert_button)
        buttons.addWidget(self.apply_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, theme.SMALL)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self.keys)
        layout.addWidget(self.note)
        layout.addWidget(self._go)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.outcome)
        layout.addLayout(buttons)
        self.setFocusProxy(self.field)

    # What is shown

    @property
    def draft(self) -> MetadataDraft | None:
        """The document as it is typed, None where it cannot be edited."""
        return self._draft

    def clear(self) -> None:
        """Show nothing, while nothing is known."""
        self._texts = []
        self.keys.clear()
        self._show(None)
        # A document that is closed is not kept.
        self._document = None
        self.note.setText(_WAITING)

    def show_texts(self, document: OpenDocument, texts: list[MetadataText], *, anew: bool) -> None:
        """Show the metadata documents of a node; unless `anew`, the one that was shown is shown again."""
        key = None if anew else self.key()
        self._document, self._texts = document, texts
        if anew:
            self.field.settle()
        with QSignalBlocker(self.keys):
            self.keys.clear()
            for text in texts:
                self.keys.addItem(self._title(text), text.place.key)
            found = next((number for number, text in enumerate(texts) if text.place.key == key), 0)
            self.keys.setCurrentIndex(found if texts else -1)
        self._is_stale = not self.isVisible()
        if not self._is_stale:
            self._show_current()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._is_stale = False
            self._show_current()

    def _title(self, text: MetadataText) -> str:
        drafts = None if self._document is None else drafts_of(self._document)
        pending = drafts is not None and drafts.metadata_of(text.place.key) is not None
        return f"{one_line(text.place.key)}{' *' if pending else ''}"

    def key(self) -> str | None:
        """Return the key of the document that is shown."""
        number = self.keys.currentIndex()
        return self._texts[number].place.key if 0 <= number < len(self._texts) else None

    def choose(self, key: str) -> None:
        """Show the document under a key."""
        for number, text in enumerate(self._texts):
            if text.place.key == key:
                self.keys.setCurrentIndex(number)

    def _key_chosen(self, _number: int) -> None:
        self._show_current()

    def _current(self) -> MetadataText | None:
        number = self.keys.currentIndex()
        return self._texts[number] if 0 <= number < len(self._texts) else None

    def _show_current(self) -> None:
        self._show(self._current())

    def _show(self, text: MetadataText | None) -> None:
        self._draft, moved_on = None, False
        can_edit = text is not None and text.place.can_edit and len(text.text) <= EDITED
        if text is not None and can_edit and self._document is not None:
            drafts = drafts_of(self._document)
            kept = drafts.metadata_of(text.place.key)
            self._draft = kept or MetadataDraft(text.place.key, text.text, text.text)
            if kept is not None and kept.old_text != text.text:
                moved_on = True
                self._draft = replace(kept, old_text=text.text)
                drafts.put_metadata(self._draft)
        shown = "" if text is None else text.text[:EDITED]
        self._loading = True
        self.field.set_text(shown if self._draft is None else self._draft.text)
        self._loading = False
        self.field.setReadOnly(not can_edit)
        self.field.setEnabled(text is not None)
        self.keys.setEnabled(len(self._texts) > 1)
        self._show_note(text, moved_on)
        self._follow()

    def _show_note(self, text: MetadataText | None, moved_on: bool) -> None:
        notes = []
        if text is not None:
            notes.append(text.place.note)
            if text.fault and text.fault != text.place.note and not text.text:
                notes.append(f"It could not be read: {text.fault}")
            if len(text.text) > EDITED:
                notes.append(f"Too long to edit here: {count_text(len(text.text))} characters.")
            if moved_on:
                notes.append("The document changed meanwhile; what you typed is kept on top of it.")
        words = " ".join(note for note in notes if note)
        self.note.setText(words)
        self.note.setVisible(bool(words))
        self._go.setVisible(text is not None and text.place.rule is not None)

    def _go_to_rule(self) -> None:
        text = self._current()
        if text is not None and text.place.rule is not None:
            self.ruleWanted.emit(text.place.rule)

    # Typing

    def _typed(self, typed: str) -> None:
        if self._loading or self._draft is None or self._document is None:
            return
        self._draft = replace(self._draft, text=typed)
        drafts_of(self._document).put_metadata(self._draft)
        text = self._current()
        if text is not None:
            self.keys.setItemText(self.keys.currentIndex(), self._title(text))
        self._follow()

    def _follow(self) -> None:
        """Parse what is typed: underline where it is no JSON, and say what it would mean."""
        draft = self._draft
        pending = draft is not None and draft.is_changed
        self.revert_button.setEnabled(pending)
        if draft is None:
            self.field.set_faults((), "")
            self.outcome.clear()
            self._allow(False)
            return
        if not draft.text.strip():
            self._allow(False)
            self.field.set_faults((), "")
            self.outcome.clear()
            if pending:
                self.outcome.show_fault("metadata is an object: { … }")
            return
        if len(draft.text) <= CHECKED_AT_ONCE:
            self._show_check(draft, check(draft))
            return
        self._allow(False)
        self.outcome.show_result("checking…")
        self._check_timer.start()

    def _check_later(self) -> None:
        """Check a long text off the GUI thread."""
        draft, opened = self._draft, self._document
        if draft is None or opened is None:
            return
        self._checking.run(
            opened,
            f"Check {draft.key}",
            lambda _control: check(draft),
            lambda found: self._show_check(draft, found),
        )

    def _show_check(self, draft: MetadataDraft, found: Check) -> None:
        if draft != self._draft:
            return
        if found.place is not None:
            self.field.set_faults([FaultSpan(*found.place)], found.fault)
            self.outcome.show_fault(found.fault)
            self._allow(False)
            return
        self.field.set_faults((), "")
        if not found.is_object:
            self.outcome.show_fault(found.fault)
        elif found.fault:
            self.outcome.show_warning(found.fault)
        elif draft.is_changed:
            self.outcome.show_result("not applied yet")
        else:
            self.outcome.clear()
        self._allow(draft.is_changed and found.is_object)

    def _allow(self, can_apply: bool) -> None:
        self.apply_button.setEnabled(can_apply)
        self.apply_button.setDefault(can_apply)

    def show_fault(self, span: tuple[int, int] | None) -> None:
        """Put the keyboard in the text, where it is wrong."""
        self.field.setFocus()
        if span is not None:
            self.field.show_place(span[0])

    # Acting

    def apply(self) -> None:
        """Make what is typed one step of the history."""
        draft, opened = self._draft, self._document
        if draft is None or opened is None or not self.apply_button.isEnabled():
            return
        drafts = drafts_of(opened)
        drafts.drop_metadata(draft.key)
        if not opened.apply(metadata_edit(draft)):
            drafts.put_metadata(draft)
            return
        if opened.document is not None and self._draft == draft:
            self.applied()

    def applied(self) -> None:
        """Take what was applied for what the document has, until it is read anew."""
        draft, opened = self._draft, self._document
        if draft is None or opened is None or drafts_of(opened).metadata_of(draft.key) is not None:
            return
        self.field.settle()
        if not draft.is_changed:
            return
        from refbrowser.references.text.typed_values import laid_out, parsed

        json = parsed(draft.text)
        laid = laid_out(json)
        number = self.keys.currentIndex()
        self._texts[number] = replace(self._texts[number], text=laid, json=json, fault="")
        self.keys.setItemText(number, self._title(self._texts[number]))
        self._show_current()

    def revert(self) -> None:
        """Forget what is typed and show what the document has."""
        if self._document is not None and self._draft is not None:
            drafts_of(self._document).drop_metadata(self._draft.key)
            text = self._current()
            if text is not None:
                self.keys.setItemText(self.keys.currentIndex(), self._title(text))
            self._show_current()
            self.field.settle()
            self.field.setFocus()


class Check(NamedTuple):
    """What a text comes to: its fault in words, its place where it is no JSON, whether it is an object."""

    fault: str
    place: tuple[int, int] | None
    is_object: bool


def check(draft: MetadataDraft) -> Check:
    """Parse what is typed, and see whether it is metadata."""
    from refbrowser.engine.node_metadata import metadata_fault
    from refbrowser.errors import RefbrowserError
    from refbrowser.references.text.typed_values import parsed

    try:
        value = parsed(draft.text)
    except RefbrowserError as error:
        reason = f"line {error.place.line}, column {error.place.column}: {error.message}"
        return Check(reason, error.place.span or (0, 0), False)
    return Check(metadata_fault(draft.key, value), None, isinstance(value, dict))
