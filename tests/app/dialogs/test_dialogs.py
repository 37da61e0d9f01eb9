"""Every dialog shows its words whole at the size that it opens in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QScrollArea,
    QStyle,
    QStyleOptionComboBox,
    QTabBar,
    QWidget,
)
from window_fixtures import Open

import refbrowser
from refbrowser.app.controller.compared_side import ComparedSide, SavedSide
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.open_dialogs import ConnectionDialog, OpenUrlDialog
from refbrowser.app.dialogs.packing_sheet import PackingSheet
from refbrowser.app.dialogs.recovery import RecoveryPreview
from refbrowser.app.dialogs.reference_changes_dialog import ReferenceChangesDialog
from refbrowser.app.dialogs.save_dialogs import SavePreviewDialog, UnsavedDialog
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import small_widgets
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.bundled import resource
from refbrowser.engine.journal import Recovery
from refbrowser.exporting.combining.mismatches import Mismatch
from refbrowser.exporting.saving.save_preview import SavePreview
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.tools.compare.window.compare_window import CompareWindow
from refbrowser.tools.export.window.export_dialog import ask_leftover
from refbrowser.tools.lock.window.accept_sheet import AcceptSheet
from refbrowser.tools.make.custom_remedies import CustomRemedy
from refbrowser.tools.make.window.custom_remedy_dialog import CustomRemedyDialog
from refbrowser.views.references import SelectedRows
from refbrowser.wings.awkward0.views.safety_rows import FUNCTIONS, SafetyRow
from refbrowser.wings.awkward0.window.safety_dialogs import AllowDialog, SafetyDialog
from refbrowser.wings.icechunk.window.commit_sheet import CommitSheet
from refbrowser.wings.icechunk.window.repository_append import RepositoryAppendSheet
from refbrowser.wings.ncstream.window.byte_order_dialog import ByteOrderDialog
from refbrowser.wings.ncstream.window.stream_dialogs import AppendDialog, CompactDialog, RepairDialog

Settle = Callable[[], None]
#: What a desktop leaves of its screen, without the frame of a window.
DESKTOP = QSize(1904, 1040)
#: Actions that open a dialog over the sample.
ASKING = (
    *("open_url", "open_remote", "compare", "export", "make_references", "fold_references", "move_files"),
    *("compare_with", "merge", "show_readers", "show_expectation", "compute_array", "rename_node"),
    *("combine_files", "append_files", "export_figure", "export_film"),
    *("preferences", "colour_scale", "marks", "difference_of_two", "choose_units"),
    *("template_values", "review_trust", "command_palette", "go_to_key", "manual", "shortcuts", "about"),
)


def dialogs() -> set[type]:
    """Return the program's kinds of dialogs, without those that others are made from."""
    kinds, found = QDialog.__subclasses__(), set()
    while kinds:
        kind = kinds.pop()
        more = kind.__subclasses__()
        kinds += more
        if kind.__module__.startswith("refbrowser.") and (not more or kind is OpenUrlDialog):
            found.add(kind)
    return found


def nothing(*_: object) -> None:
    pass


def room_of(combo: QComboBox) -> int:
    """Return the width that the chosen words have."""
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    part = QStyle.SubControl.SC_ComboBoxEditField
    return combo.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, combo).width()


def is_scrolled(widget: QWidget) -> bool:
    above = widget.parentWidget()
    while above is not None and not isinstance(above, QScrollArea):
        above = above.parentWidget()
    return above is not None


def needed(widget: QWidget) -> tuple[QSize, str] | None:
    """Return the size that the words of a widget need, and the words; None where it has none."""
    metrics, has = widget.fontMetrics(), widget.size()
    match widget:
        # One line of a path or of a foreign name, which takes the room there is and tells all in its tip.
        case ElidedLabel():
            return None
        case QLabel() if widget.text() and widget.wordWrap():
            return QSize(has.width(), widget.heightForWidth(has.width())), widget.text()
        case QLabel() if widget.text():
            return widget.sizeHint(), widget.text()
        case QAbstractButton() if widget.text():
            words = widget.text().replace("&", "")
            return QSize(
                max(widget.sizeHint().width(), metrics.horizontalAdvance(words)), metrics.height()
            ), words
        case QComboBox() if widget.currentText():
            lacks = max(0, metrics.horizontalAdvance(widget.currentText()) - room_of(widget))
            return QSize(has.width() + lacks, metrics.height()), widget.currentText()
        case QTabBar():
            return widget.sizeHint(), " | ".join(widget.tabText(at) for at in range(widget.count()))
        case QLineEdit() if widget.placeholderText() and not widget.text():
            # Beside it: its padding and border, and what the style leaves before the first letter.
            words = widget.placeholderText()
            return QSize(metrics.horizontalAdvance(words) + 2 * 6 + 2 * 1 + 2 * 2, metrics.height()), words
        case QGroupBox() if widget.title():
            return widget.minimumSizeHint(), widget.title()
    return None


def clipped(top: QWidget) -> list[str]:
    """Return the words of a dialog that are not seen whole."""
    found = []
    for widget in top.findChildren(QWidget):
        words = needed(widget) if widget.isVisibleTo(top) else None
        if words is None:
            continue
        least, has = words[0], widget.size()
        # What is cut off by what it stands in: only what scrolls may be below the edge.
        seen = widget.visibleRegion().boundingRect()
        if not is_scrolled(widget):
            has = has.boundedTo(seen.size())
        elif seen.width():
            has.setWidth(min(has.width(), seen.width()))
        if has.width() < least.width() or has.height() < least.height():
            kind = f"{type(widget).__name__} {widget.objectName()}"
            found.append(f"{kind}: {words[1]!r} in {has.toTuple()}, not {least.toTuple()}")
    for header in top.findChildren(QHeaderView):
        for at in range(header.count()) if header.isVisibleTo(top) else ():
            if header.sectionSize(at) < header.sectionSizeHint(at):
                found.append(f"title {header.model().headerData(at, header.orientation())}")
    return found


def opened_by(
    document: OpenDocument, repository: OpenDocument, window: MainWindow
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what opens each dialog."""
    for name in ASKING:
        yield name, window.actions_[name].trigger
    rows = [SafetyRow(FUNCTIONS, "os.system", "refused", True, "It runs programs.", can_be_allowed=True)]
    questions = window.questions
    origins = ("https://data.example.org", "s3://bucket", "gs://bucket", "abfs://data@account")
    previews = (
        SavePreview(rows=1200, size=90_000, relative=3, example="data/a.dat", prefix="../"),
        SavePreview(rules=2, relative=1, example="data/a.dat", obstacle="the folders share no path"),
        SavePreview(rows=10**9, size=10**11, is_larger_than_opened=True),
    )
    said = "'/time': 1 of 12 files has other units"
    differs = Mismatch(kind="units", path="/time", name="units", message=said)
    label, start = "Units", "days since 2000-01-01"
    way = CustomRemedy(
        "Express the times in", "Express", label, start, "time_units", differs, (), frozenset()
    )
    makers: list[Callable[[], QDialog]] = [
        *(
            lambda text=text: ConnectionDialog(Origin.parse(text), ConnectionSettings(), window)
            for text in origins
        ),
        *(lambda each=each: SavePreviewDialog(document, "/data/new.json", each, window) for each in previews),
        lambda: UnsavedDialog([document, document], ["2 edits", "1 edit and 3 typed texts"], window),
        lambda: RecoveryPreview(document, Recovery(Path("journal"), 0.0, ()), window),
        lambda: CommitSheet(repository, window),
        lambda: RepositoryAppendSheet(repository, window.documents, window),
        lambda: RepairDialog(document, window),
        lambda: CompactDialog(document, window),
        lambda: AppendDialog(document, [document], window),
        lambda: ByteOrderDialog(document, ("/ocean/sst",), "/ocean/sst", window),
        lambda: SafetyDialog(document, rows, window),
        lambda: AllowDialog(document, rows, "os.system", window),
        lambda: AllowDialog(document, [], "", window),
        lambda: AcceptSheet(document, "", window),
        lambda: ReferenceChangesDialog(document.document, SelectedRows(((0, 3),)), " 3 rows stay.", window),
        lambda: CompareWindow(ComparedSide(document), SavedSide(document), window.tasks, window),
        lambda: CustomRemedyDialog(way, window),
        *(
            lambda packing=packing: PackingSheet(
                document, document.hierarchy.find("/ocean/sst"), packing, nothing, window
            )
            for packing in ("codecs", "attributes")
        ),
    ]
    for number, make in enumerate(makers):
        yield f"made {number}", lambda make=make: make().open()
    yield "unsaved", lambda: questions.unsaved(document, nothing)
    yield "overwrite", lambda: questions.overwrite(document, nothing, nothing)
    yield "reload", lambda: questions.reload(document, nothing)
    yield "revert", lambda: questions.revert(document, nothing)
    yield "large", lambda: questions.large(document, "It has 3 000 000 references.", nothing)
    yield "delete_keys", lambda: questions.delete_keys(12, "They are removed.", nothing)
    for is_same in (True, False):
        yield (
            f"leftover {is_same}",
            lambda is_same=is_same: ask_leftover(window, "out.zarr", nothing, is_same=is_same),
        )


@pytest.fixture
def larger_font(styled: QApplication) -> Iterator[None]:
    """The size of letters that desktops have by themselves, which is more than that without one."""
    before = styled.font()
    font = QFont(before)
    font.setPointSizeF(11)
    styled.setFont(font)
    yield
    styled.setFont(before)


@pytest.mark.slow
@pytest.mark.usefixtures("larger_font")
def test_no_words_are_clipped(
    window: MainWindow, opened: Open, settle: Settle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The screen that tests have is narrower than dialogs are.
    monkeypatch.setattr(small_widgets, "room_for_window", lambda widget: DESKTOP)
    sample = Path(str(resource("sample/sea_surface.json")))
    refbrowser.export(sample, tmp_path / "sea", format="icechunk", arrays=["/ocean/lat"])
    repository = opened(tmp_path / "sea")
    document = opened(sample)
    settle()
    window.hierarchy.select_node(document, "/ocean/sst")
    settle()
    found, seen = [], set()
    for name, open_it in opened_by(document, repository, window):
        open_it()
        settle()
        tops = [each for each in QApplication.topLevelWidgets() if each is not window and each.isVisible()]
        tops = [each for each in tops if isinstance(each, QDialog) and not isinstance(each, QFileDialog)]
        assert len(tops) == 1, name
        seen.add(type(tops[0]))
        found += [f"{name}: {words}" for words in clipped(tops[0])]
        formats = tops[0].findChild(QComboBox, "exportFormat")
        for each in ("nczarr", "ncstream", "parquet", "awkward0") if formats else ():
            formats.setCurrentIndex(formats.findData(each))
            settle()
            found += [f"{name}, {formats.currentText()}: {words}" for words in clipped(tops[0])]
        tops[0].close()
        tops[0].deleteLater()
        settle()
    assert not dialogs() - seen, sorted(each.__name__ for each in dialogs() - seen)
    listed = "\n".join(found)
    assert not listed, listed
