"""The byte map: a file of the document, whose its bytes are, what the view uses, and how that is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from refbrowser.app.panes.array_pane import ArrayPane
from refbrowser.app.panes.chunk_map_controls import LegendEntry, SwatchLegend
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import one_shot, pop_up_entries, push_button, scrolled
from refbrowser.io.access.access import storage_url
from refbrowser.io.plan import AUTOMATIC
from refbrowser.model.nodes import ArrayNode
from refbrowser.tools.bytes.report.byte_facts import class_words, faults_line, file_line, item_line, name_of
from refbrowser.tools.bytes.report.byte_map import ByteItem, PlaceKind
from refbrowser.tools.bytes.report.file_source import OwnerKind
from refbrowser.tools.bytes.report.target_files import TargetFile
from refbrowser.tools.bytes.window.byte_map_loader import ByteMapLoader
from refbrowser.tools.bytes.window.byte_map_view import ByteMapView, ByteOverview
from refbrowser.tools.bytes.window.plan_panel import PlanPanel
from refbrowser.views.chunks.chunk_colouring import URL_STYLES, MapClass
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, size_text

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.panes.quick_list import Answer, QuickList
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.tools.bytes.report.byte_map import ByteMap

_NOTHING = (
    "The bytes of the files that the document refers to appear here: which array has which, and the gaps."
)
_NONE = "The document refers to no files: all of its values are inline, or it has none."
#: Heights of the pane from which on choices, legend and overview are shown.
_WITH_CONTROLS, _WITH_LEGEND, _WITH_OVERVIEW = 100, 140, 190
#: Width from which on the plan stands beside the map, and its own; height from which on it stands below.
_WITH_PLAN, _PLAN_WIDTH, _PLAN_BELOW = 600, 276, 420
#: The view must have stood still so long, in milliseconds, before it is planned.
_REST = 60
#: Files that the list shows at once.
_ANSWERS = 200
_OVERLAP, _HEADER, _GAP, _TAIL, _UNDECIDED, _REQUESTED, _USED, _PAST = -1, -2, -3, -4, -5, -6, -7, -8


class ByteMapPane(ArrayPane):
    """Shows the bytes of one file; nothing of it is read but the first bytes of local files.

    Signals
    -------
    keyChosen(str), keyOpened(str)
        The key of bytes that were clicked; that were double-clicked.
    explainWanted(str)
        A key is to be explained.
    """

    keyChosen = Signal(str)
    keyOpened = Signal(str)
    explainWanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("byteMapPane", _NOTHING, parent)
        self._is_awake = False
        #: What was shown before the document changed, and where the cursor goes once a map is there.
        self._kept: str | None = None
        self._wanted: int | None = None
        #: What the legend shows.
        self._explained: tuple[LegendEntry, ...] = ()
        self.view = ByteMapView()
        self.overview = ByteOverview(self.view)
        self.legend = SwatchLegend("byteMap")
        self.readout = ElidedLabel("byteMapReadout", role="muted")
        self.faults = ElidedLabel("byteMapFaults")
        self.panel = PlanPanel()
        self.loader = ByteMapLoader(self)
        self._soon = one_shot(self, _REST, self._find_needs)
        self._lay_out()
        self._connect()
        self.clear()

    def _lay_out(self) -> None:
        self.readout.setFont(theme.mono_font(-0.5))
        self.readout.setMargin(theme.SMALL)
        self.faults.setProperty("role", "warning")
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SMALL)
        self._controls = self._make_controls()
        column.addWidget(self._controls)
        column.addWidget(self.overview)
        column.addWidget(self.view, 1)
        column.addWidget(self.legend)
        column.addWidget(self.readout)
        self._plan_area = scrolled(self.panel)
        self._plan_area.setObjectName("planArea")
        self._parts = QGridLayout(self._inner)
        self._parts.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, 0)
        self._parts.setHorizontalSpacing(theme.LARGE)
        self._parts.setColumnStretch(0, 1)
        self._parts.setRowStretch(0, 1)
        self._parts.addWidget(left, 0, 0)
        self._parts.addWidget(self._plan_area, 0, 1)

    def _make_controls(self) -> QWidget:
        box = QWidget()
        line = QHBoxLayout(box)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.MEDIUM)
        self.file_button: QPushButton = push_button("File", "byteMapFile", self.choose_file)
        self.file_button.setToolTip("Choose another file that the document refers to")
        self.about = ElidedLabel("byteMapAbout", role="muted")
        self.follow = QCheckBox("Follow")
        self.follow.setObjectName("byteMapFollow")
        self.follow.setChecked(True)
        self.follow.setToolTip("Show the file of what is plotted or selected")
        self.follow.setAccessibleName("Follow what is plotted or selected")
        self.follow.toggled.connect(lambda on: self._choose() if on else None)
        self.fit = push_button("Fit", "byteMapFit", self.view.fit, flat=True)
        self.fit.setToolTip("See the whole file (R)")
        line.addWidget(self.file_button)
        line.addWidget(self.about, 2)
        line.addWidget(self.faults, 3)
        line.addWidget(self.fit)
        line.addWidget(self.follow)
        return box

    def _connect(self) -> None:
        view, loader = self.view, self.loader
        view.hovered.connect(lambda _item: self._say())
        view.cursorMoved.connect(lambda _item: self._say())
        view.chosen.connect(lambda item: self._tell(item, self.keyChosen))
        view.opened.connect(lambda item: self._tell(item, self.keyOpened))
        view.viewMoved.connect(lambda: self.fit.setVisible(not view.viewport.is_fitted))
        view.copyAsked.connect(self.copy_key)
        view.menuAsked.connect(self._show_menu)
        self.legend.wanted.connect(self._go_to)
        loader.filesFound.connect(self._files_found)
        loader.mapFound.connect(self._show_map)
        loader.needsFound.connect(self._needs_found)
        loader.planFound.connect(self._show_plan)
        loader.keyFound.connect(self._show_key)
        loader.failed.connect(
            lambda error: self._show_hint(f"The files cannot be mapped: {one_line(str(error))}")
        )
        self.panel.choiceChanged.connect(loader.plan)

    # What is shown

    def set_array(self, document: OpenDocument, node: ArrayNode) -> None:
        """Show a file of the document that is plotted: that of the array, where it follows."""
        is_other = self._turn_to(document)
        self._node = node
        if is_other:
            self._begin()
        else:
            self._soon.start()

    def clear(self) -> None:
        super().clear()
        self._kept = self._wanted = None
        self._soon.stop()
        self.loader.set_document(None)
        self.view.set_map(None, ())
        self.follow.setChecked(True)
        self.panel.set_choice(AUTOMATIC)

    def set_plot(self, plot: PlotPane) -> None:
        super().set_plot(plot)
        plot.settled.connect(self._follow_plot)

    def _leave_plot(self, plot: PlotPane) -> None:
        super()._leave_plot(plot)
        plot.settled.disconnect(self._follow_plot)

    def follow_key(self, key: str) -> None:
        """Put the cursor on the bytes of a key that was selected elsewhere."""
        if self._is_awake and self.follow.isChecked():
            self.loader.find_key(key)

    def set_seen(self, is_seen: bool) -> None:
        was_seen, self._is_awake = self._is_awake, is_seen
        if not is_seen:
            self._kept = self.loader.url
            self.loader.stop()
        elif self.loader.shown is None:
            self._begin()
        elif not was_seen:
            self._soon.start()

    def is_settled(self) -> bool:
        return not (self.loader.is_busy or self._soon.isActive())

    def file(self) -> str | None:
        """Return the URL of the file that is shown."""
        return self.loader.url

    def show_file(self, url: str) -> None:
        """Show a file that was chosen; it stays until another one is."""
        self.follow.setChecked(False)
        self._map(url)

    def current_key(self) -> str | None:
        """Return the key of the bytes under the cursor."""
        shown, item = self.loader.shown, self.view.cursor_item or self.view.hover_item
        return shown.key(item.ranges[0]) if shown is not None and item is not None and item.ranges else None

    def copy_key(self) -> None:
        """Put the key under the cursor on the clipboard."""
        key = self.current_key()
        if key is not None:
            QGuiApplication.clipboard().setText(key)

    def copy_range(self) -> None:
        """Put URL, offset and length of the bytes under the cursor on the clipboard, as a reference."""
        item, url = self.view.cursor_item, self.loader.url
        if item is not None and url is not None:
            extent = item.extent
            QGuiApplication.clipboard().setText(f'["{url}", {extent.start}, {extent.size}]')

    # Finding out

    def _begin(self) -> None:
        """Look at the document, as it is now, where anybody sees it."""
        document = self._document
        if document is None or not self._is_awake or document.dataset is None:
            return
        self.loader.set_document(document)
        self.loader.find_files()
        if self._kept is not None:
            self._map(self._kept)
        self._find_needs()

    def _follow_document(self) -> None:
        if self._document is not None and self._document.hierarchy is not None:
            self._node = self._array_now()
            self._kept = self.loader.url
            self._begin()

    def _follow_plot(self) -> None:
        self._soon.start()

    def _find_needs(self) -> None:
        """Find out what the plot needs as it stands."""
        plot, document, node = self._plot, self._document, self._node
        if not self._is_awake or plot is None or document is None or node is None:
            return
        picture, shown, owner = plot.picture(), plot.array(), self._document
        if (
            picture is None
            or owner is None
            or shown is None
            or shown.path != node.path
            or plot.source() is not document
        ):
            return
        self.loader.find_needs(owner, node, picture.plan.selection)

    def _files_found(self) -> None:
        files = self.loader.files
        if files is not None and not files.files and self.loader.url is None:
            self._show_hint(_NONE)
        self._choose()

    def _needs_found(self) -> None:
        self._choose()
        self.loader.plan(self.panel.choice())

    def _choose(self) -> None:
        """Show the file of the view, or the first one of all."""
        needs, files = self.loader.needs, self.loader.files
        urls = [] if needs is None else [storage_url(url) for url in needs.urls]
        if self.follow.isChecked() and urls and self.loader.url not in urls:
            self._map(urls[0])
        elif self.loader.url is None and files is not None and files.files:
            self._map(files.files[0].url)

    def _map(self, url: str) -> None:
        if url != self.loader.url:
            self.view.set_map(None, ())
        self.loader.map_file(url)
        self._show_file(url)

    # Showing

    def _show_file(self, url: str) -> None:
        document = self._document
        name = name_of(url, "" if document is None else document.title)
        self.file_button.setText(f"{name if len(name) <= 40 else f'…{name[-39:]}'} ▾")
        self.file_button.setAccessibleName(f"File {name}; choose another")
        self.file_button.setToolTip(theme.plain_tooltip(f"{url or name}\nChoose another file"))
        self.about.set_text("")
        self.faults.set_text("")

    def _show_map(self) -> None:
        shown = self.loader.shown
        if shown is None:
            return
        self._pages.setCurrentWidget(self._inner)
        before = self.view.painting.shown
        same = before is not None and before.url == shown.url
        self.view.set_map(shown, self._styles(shown), same=same)
        self.about.set_text(file_line(shown))
        faults = faults_line(shown)
        self.faults.set_text(faults)
        self.faults.setVisible(bool(faults))
        self._show_legend(shown)
        self.loader.plan(self.panel.choice())
        if self._wanted is not None:
            self.view.place_cursor(self._wanted)
            self._wanted = None
        self._say()

    def _styles(self, shown: ByteMap) -> list[MapClass]:
        """Return how each class looks: an array the same in every file, where there are not too many."""
        hierarchy = None if self._document is None else self._document.hierarchy
        nodes = (
            [] if hierarchy is None else [node for node in hierarchy.walk() if isinstance(node, ArrayNode)]
        )
        numbers = {node.path: number for number, node in enumerate(nodes)}
        styles = []
        for place, each in enumerate(shown.classes):
            names = [shown.owners[owner].name for owner in each.owners]
            number = numbers.get(names[0].path, place) if len(nodes) <= URL_STYLES else place
            is_array = len(names) == 1 and names[0].kind is OwnerKind.ARRAY
            style = "url" if is_array else "others"
            styles.append(MapClass(style, each.label, number, URL_STYLES, count=each.count))
        return styles

    def _show_legend(self, shown: ByteMap) -> None:
        entries = tuple(self._entries(shown))
        if entries != self._explained:
            self._explained = entries
            self.legend.set_entries(entries, len(entries))

    def _entries(self, shown: ByteMap) -> Iterator[LegendEntry]:
        if len(shown.overlaps):
            text = f"overlap  {size_text(shown.overlaps.size)}"
            yield _entry(
                _OVERLAP, MapClass("overlap"), text, f"Bytes of more than one range ({text})", "Overlap"
            )
        for number, (each, style) in enumerate(zip(shown.classes, self.view.painting.styles, strict=True)):
            size = size_text(each.size)
            ranges = counted_spaced(each.count, "range")
            label = one_line(each.label)
            tip = f"{label}: {ranges}, {size}. Click to go to the next one."
            yield _entry(number, style, f"{label}  {size}", tip, f"Class{number}")
        if self.loader.usual is not None:
            tip = "The line above bytes: they are requested for the view. Click to go to the next request."
            yield _entry(_REQUESTED, MapClass("requested"), "requested", tip, "Requested")
            tip = "The line below bytes: the view needs them. Click to go to the next ones."
            yield _entry(_USED, MapClass("used"), "used by the view", tip, "Used")
        if shown.past_end:
            text = f"past the end  {size_text(shown.past_end)}"
            tip = "Ranges that extend past the end of the file: nothing is stored there. Click to go there."
            yield _entry(_PAST, MapClass("past"), text, tip, "Past")
        first, size_of, gaps = shown.first, shown.facts.size, shown.gaps
        if shown.undecided:
            tip = class_words(PlaceKind.UNDECIDED, shown)
            yield _entry(_UNDECIDED, MapClass("undecided"), "not decided", tip, "Undecided")
        if first:
            tip = class_words(PlaceKind.HEADER, shown)
            yield _entry(_HEADER, MapClass("header"), f"before data  {size_text(first)}", tip, "Header")
        if gaps is None or gaps[1] > 0:
            tip = class_words(PlaceKind.GAP, shown)
            text = "gaps" if gaps is None else f"{count_text(gaps[0])} gaps  {size_text(gaps[1])}"
            yield _entry(_GAP, MapClass("gap"), text.replace("1 gaps", "1 gap"), tip, "Gap")
        if size_of is not None and first is not None and size_of > shown.last:
            tip = class_words(PlaceKind.TAIL, shown)
            text = f"behind data  {size_text(size_of - shown.last)}"
            yield _entry(_TAIL, MapClass("tail"), text, tip, "Tail")

    def _show_plan(self) -> None:
        loader = self.loader
        self.view.set_needs(loader.used, loader.tried)
        self.panel.set_plans(loader.tried, loader.usual)
        if loader.shown is not None:
            self._show_legend(loader.shown)
        self._say()

    def _say(self) -> None:
        """Tell what lies under the pointer, else under the cursor."""
        shown = self.loader.shown
        item = self.view.hover_item or self.view.cursor_item
        if shown is None or item is None:
            text = ""
        else:
            text = item_line(item, shown, self.loader.used, self.loader.tried)
        self.readout.set_text(text or "Click bytes to select their key; arrow keys move the cursor")
        self.view.say(text)

    def _show_key(self, url: str, byte: int) -> None:
        """Put the cursor on bytes of a file, which is shown then."""
        target = storage_url(url)
        shown = self.loader.shown
        if shown is not None and shown.url == target:
            if self.view.cursor_item is None or not _holds(self.view.cursor_item, byte):
                self.view.place_cursor(byte)
            return
        self._wanted = byte
        self._map(target)

    def _tell(self, item: ByteItem | None, told: object) -> None:
        shown = self.loader.shown
        if shown is None or item is None or not item.ranges:
            return
        key = shown.key(item.ranges[0])
        if key is not None:
            told.emit(key)  # type: ignore[attr-defined]

    def _go_to(self, number: int) -> None:
        """Go to the next bytes of an entry of the legend."""
        shown, view = self.loader.shown, self.view
        if shown is None:
            return
        if number >= 0:
            view.go_to_class(number)
        elif number == _OVERLAP:
            view.go_to_next(overlap=True)
        elif number == _GAP:
            place = shown.next_gap(view.cursor_byte)
            if place is not None:
                view.place_cursor(place)
        elif number in (_REQUESTED, _USED):
            tried = self.loader.tried
            runs = self.loader.used if number == _USED or tried is None else tried.runs
            run = None if runs is None else runs.next_run(view.cursor_byte)
            if run is not None:
                view.place_cursor(run.start)
        elif number == _UNDECIDED:
            view.place_cursor(shown.undecided[0].low)
        elif number == _PAST:
            view.place_cursor(shown.facts.size or 0)
        else:
            view.place_cursor(0 if number == _HEADER else shown.last)

    # Choosing a file

    def choose_file(self) -> None:
        """Ask for a file by a few letters of its URL."""
        files, document = self.loader.files, self._document
        if files is None or document is None:
            return
        from refbrowser.app.panes.quick_list import QuickList

        dialog = QuickList("byteMapFiles", "Files of the document", "part of a URL", self.window())
        dialog.typed.connect(lambda text: self._list_files(dialog, text))
        dialog.chosen.connect(lambda answer: self.show_file(answer.data))
        self._list_files(dialog, "")
        dialog.show()

    def _list_files(self, dialog: QuickList, text: str) -> None:
        files = self.loader.files
        if files is None:
            return
        wanted = text.strip().lower()
        found: list[Answer] = []
        for each in files.files:
            if wanted in each.url.lower():
                found.append(self._answer(each))
                if len(found) == _ANSWERS:
                    break
        words = f"{count_text(len(files.files))} files"
        if len(found) == _ANSWERS:
            words = f"the first {_ANSWERS} of {words}; type more letters"
        dialog.set_answers(found, "; ".join((words, *files.notes[:1])))

    def _answer(self, file: TargetFile) -> Answer:
        from refbrowser.app.panes.quick_list import Answer

        document = "" if self._document is None else self._document.title
        parts = [f"{count_text(file.count)} ranges"] if file.count else []
        parts += [f"{count_text(file.whole)} as a whole"] if file.whole else []
        parts += [size_text(file.size)] if file.count else []
        text = one_line(file.url) if file.url else name_of(file.url, document)
        return Answer(text, ", ".join(parts), icon="document", data=file.url)

    def _show_menu(self, place: QPoint) -> None:
        item = self.view.cursor_item
        key = self.current_key()
        of_key = (
            ("Select the key", "Return", lambda: self._tell(item, self.keyChosen)),
            ("Open the key in References", "Ctrl+Return", lambda: self._tell(item, self.keyOpened)),
            ("Explain the key", "", lambda: self.explainWanted.emit(key)),
            ("Copy the key", "Ctrl+C", self.copy_key),
        )
        entries = (
            *(of_key if key is not None else ()),
            ("Copy URL, offset and length", "", self.copy_range),
            ("Enlarge these bytes", "Z", lambda: self.view.zoom_to(item) if item is not None else None),
            ("Go to the next overlap", "O", lambda: self.view.go_to_next(overlap=True)),
            ("See the whole file", "R", self.view.fit),
        )
        pop_up_entries(self, "byteMapMenu", place, entries)

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        high, wide = self.height(), self.width()
        self._controls.setVisible(high >= _WITH_CONTROLS)
        self.overview.set_room(has_room=high >= _WITH_OVERVIEW)
        self.legend.setVisible(high >= _WITH_LEGEND)
        self.legend.set_lines(1 if high < 2 * _WITH_LEGEND else 3)
        beside, below = wide >= _WITH_PLAN, wide < _WITH_PLAN and high >= _PLAN_BELOW
        self._parts.removeWidget(self._plan_area)
        self._parts.addWidget(self._plan_area, *((0, 1) if beside else (1, 0)))
        self._plan_area.setVisible(beside or below)
        if beside:
            self._plan_area.setFixedWidth(_PLAN_WIDTH)
        else:
            self._plan_area.setMinimumWidth(1)
            self._plan_area.setMaximumWidth(wide)
        self._plan_area.setMaximumHeight(16777215 if beside else 190)

    def _restyle(self) -> None:
        self.view.restyle()
        self.legend.restyle()


def _holds(item: ByteItem, byte: int) -> bool:
    return item.extent.start <= byte < item.extent.stop or any(
        each.start <= byte < each.stop for each in item.ranges
    )


def _entry(number: int, look: MapClass, text: str, tip: str, name: str) -> LegendEntry:
    return LegendEntry(number, look, text, tip, f"byteMapLegend{name}", f"{text}; go to the next one")
