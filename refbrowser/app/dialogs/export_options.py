"""How a store is to be laid out, as the export dialog asks for it: container, chunks, codec, shards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QLineEdit, QSpinBox, QWidget

from refbrowser.app.dialogs.export_formats import ExportFormat, offered_codecs, reasons
from refbrowser.app.editors.rows import named
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label

if TYPE_CHECKING:
    from refbrowser.app.controller.exporting import Layout

_KEEP, _SIZE, _SHAPE = "keep", "size", "shape"
_SIDES = ((_KEEP, "As in the source"), (_SIZE, "About this size"), (_SHAPE, "Of this shape"))
_SIZE_HINT, _SHAPE_HINT = "8 MiB", "100,100 (-1: all)"
_SHAPE_TIP = (
    "Chunk shape, for example 100,100; -1 means the whole axis. "
    "For arrays with as many dimensions, the others keep theirs. "
    "The column Chunks of the table is for single arrays"
)


class SidesField(QObject):
    """A choice between keeping, a size and a shape, with a field for the last two.

    Signals
    -------
    changed()
        Something else is chosen or typed.
    """

    changed = Signal()

    def __init__(self, parent: QWidget, name: str, title: str, keep: str = "As in the source") -> None:
        super().__init__(parent)
        self.kind = named(QComboBox(), f"{name}Kind", title)
        for value, text in _SIDES:
            self.kind.addItem(keep if value == _KEEP else text, value)
        self.field = named(QLineEdit(), f"{name}Field", f"{title}: size or shape")
        self.kind.currentIndexChanged.connect(lambda _index: self._kind_chosen())
        self.field.textChanged.connect(lambda _text: self.changed.emit())
        self._kind_chosen()

    @property
    def widgets(self) -> tuple[QWidget, QWidget]:
        """The choice and the field."""
        return self.kind, self.field

    def set_usable(self, usable: bool) -> None:
        """Let it be used, or not."""
        self.kind.setEnabled(usable)
        self.field.setEnabled(usable and self.kind.currentData() != _KEEP)

    def text(self) -> str:
        """Return what is asked for as the command line takes it; nothing where it is to be kept."""
        kind, typed = self.kind.currentData(), self.field.text().strip()
        if kind == _KEEP or not self.kind.isEnabled():
            return ""
        return f"auto:{typed or '8MiB'}" if kind == _SIZE else typed or "-1"

    def _kind_chosen(self) -> None:
        kind = self.kind.currentData()
        self.field.setEnabled(kind != _KEEP and self.kind.isEnabled())
        self.field.setPlaceholderText({_SIZE: _SIZE_HINT, _SHAPE: _SHAPE_HINT}.get(kind, ""))
        self.field.setToolTip(theme.plain_tooltip(_SHAPE_TIP if kind == _SHAPE else ""))
        if kind == _KEEP:
            self.field.clear()
        self.changed.emit()


class StoreOptionsForm(QWidget):
    """The options of stores; those that do not fit the format are disabled, and a line says why.

    Signals
    -------
    changed()
        Something else is asked for.
    containerChanged()
        The container is another one.
    """

    changed = Signal()
    containerChanged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._format: ExportFormat | None = None
        self._codecs = offered_codecs()
        self._labels: list[QLabel] = []
        self.container = self._combo(
            "exportContainer", "Container", (("folder", "Folder"), ("zip", "Zip file"))
        )
        self.keys = self._combo(
            "exportZipKeys", "Keys in the zip file", (("", "At the top"), ("folder", "Below one folder"))
        )
        self.keys.setToolTip(
            theme.plain_tooltip("zarr-python needs keys at the top, netCDF below one folder; both open here")
        )
        self.chunks = SidesField(self, "exportChunks", "Chunks")
        self.shards = SidesField(self, "exportShards", "Shards", "None but those of the source")
        self.codec = self._combo(
            "exportCodec", "Compression", [(each.text, each.title) for each in self._codecs]
        )
        self.level = named(QSpinBox(), "exportLevel", "Level of compression")
        self.dimensions = QCheckBox("&Write _ARRAY_DIMENSIONS, for xarray")
        named(self.dimensions, "exportArrayDimensions", "Write _ARRAY_DIMENSIONS, for xarray")
        self.dimensions.setChecked(True)
        self.split = QCheckBox("Sp&lit compounds into variables")
        named(self.split, "exportSplitCompounds", "Split compounds into variables, one for each field")
        self.split.setToolTip(
            theme.plain_tooltip(
                "NCZarr has no compounds, complex numbers or opaque elements, and netCDF refuses a dataset "
                "with them: each field becomes a variable, opaque elements become bytes"
            )
        )
        self._why = plain_label("", role="muted")
        self._why.setObjectName("exportReasons")
        self._place()
        for field in (self.chunks, self.shards):
            field.changed.connect(self.changed)
        self.container.currentIndexChanged.connect(lambda _index: self._container_chosen())
        self.keys.currentIndexChanged.connect(lambda _index: self.changed.emit())
        self.codec.currentIndexChanged.connect(lambda _index: self._codec_chosen())
        self.level.valueChanged.connect(lambda _value: self.changed.emit())
        for box in (self.dimensions, self.split):
            box.toggled.connect(lambda _on: self.changed.emit())
        self._codec_chosen()

    def _combo(self, name: str, title: str, items: Iterable[tuple[str, str]]) -> QComboBox:
        combo = named(QComboBox(), name, title)
        for value, text in items:
            combo.addItem(text, value)
        return combo

    def _place(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.MEDIUM)
        rows: tuple[tuple[str, tuple[QWidget, QWidget | None], str, tuple[QWidget, QWidget | None]], ...] = (
            ("C&ontainer", (self.container, None), "&Keys", (self.keys, None)),
            (
                "C&hunks",
                self.chunks.widgets,
                "Sha&rds",
                self.shards.widgets,
            ),
            ("Co&mpression", (self.codec, self.level), "", (self.dimensions, None)),
        )
        for row, (left, on_left, right, on_right) in enumerate(rows):
            for column, text, (first, second) in ((0, left, on_left), (4, right, on_right)):
                if text:
                    label = QLabel(text)
                    label.setBuddy(first)
                    self._labels.append(label)
                    grid.addWidget(label, row, column)
                grid.addWidget(first, row, column + 1, 1, 1 if second is not None else 2)
                if second is not None:
                    grid.addWidget(second, row, column + 2)
        grid.addWidget(self.split, len(rows), 5, 1, 2)
        grid.addWidget(self._why, len(rows) + 1, 1, 1, 6)
        grid.setColumnMinimumWidth(3, theme.LARGE)
        for column in (2, 6):
            grid.setColumnStretch(column, 1)

    def align(self, label: QLabel) -> None:
        """Make a label of another form as wide as the first labels here."""
        label.setMinimumWidth(max(each.sizeHint().width() for each in self._labels[::2]))

    # What is asked for

    def set_format(self, chosen: ExportFormat) -> None:
        """Let those options be used that fit a format."""
        self._format = chosen
        for row, codec in enumerate(self._codecs):
            item = self.codec.model().item(row)  # type: ignore[attr-defined]
            item.setEnabled(codec.fits(chosen))
        if not self.codec.model().item(self.codec.currentIndex()).isEnabled():  # type: ignore[attr-defined]
            self.codec.setCurrentIndex(0)
        self._show_usable()

    def set_running(self, running: bool) -> None:
        """Let nothing be changed while an export runs."""
        self.setEnabled(not running)

    @property
    def is_zip(self) -> bool:
        """Whether a zip file is to be made."""
        return self.container.isEnabled() and self.container.currentData() == "zip"

    def layout_wanted(self, folder: str, array_chunks: Mapping[str, str]) -> Layout:
        """Return what is asked for; `folder` is what keys lie below in a zip file, where they are to."""
        from refbrowser.app.controller.exporting import Layout

        codec = str(self.codec.currentData())
        is_store = self._format is None or self._format.is_store
        if is_store and self.level.isEnabled():
            codec = f"{codec}:{self.level.value()}"
        return Layout(
            chunks=self.chunks.text(),
            array_chunks=dict(array_chunks) if is_store else {},
            codec=codec if is_store else "keep",
            shards=self.shards.text(),
            container="zip" if self.is_zip else "folder",
            zip_folder=folder if self.is_zip and self.keys.currentData() else "",
            array_dimensions=self.dimensions.isChecked(),
            split_compounds=self.split.isEnabled() and self.split.isChecked(),
        )

    def _container_chosen(self) -> None:
        self._show_usable()
        self.containerChanged.emit()
        self.changed.emit()

    def _codec_chosen(self) -> None:
        levels = self._codecs[self.codec.currentIndex()].levels
        self.level.setEnabled(levels is not None and self.codec.isEnabled())
        self.level.setSpecialValueText("no level" if levels is None else "")
        self.level.setPrefix("" if levels is None else "level ")
        low, high, usual = levels or (0, 0, 0)
        self.level.setRange(low, high)
        self.level.setValue(usual)
        self.changed.emit()

    def _show_usable(self) -> None:
        chosen = self._format
        if chosen is None:
            return
        for widget in (self.container, self.codec):
            widget.setEnabled(chosen.is_store)
        self.chunks.set_usable(chosen.is_store)
        self.shards.set_usable(chosen.has_shards)
        self.dimensions.setEnabled(chosen.has_array_dimensions)
        self.split.setEnabled(chosen.splits_compounds)
        self.keys.setEnabled(self.is_zip)
        self.level.setEnabled(chosen.is_store and self.level.maximum() > self.level.minimum())
        why = reasons(chosen, "zip" if self.is_zip else "folder")
        self._why.setText(". ".join(why) + ("." if why else ""))
