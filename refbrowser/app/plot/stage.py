"""The picture on the screen while it comes, ends or fails; and the cards in its place."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from refbrowser.app.plot.coordinate_reader import CoordinateReader
from refbrowser.app.plot.drawing import Drawing
from refbrowser.app.plot.loader import PictureLoader
from refbrowser.app.plot.parts import PaneParts
from refbrowser.app.plot.pointing import Pointing
from refbrowser.app.plot.refiner import Refiner
from refbrowser.app.plot.source import PlotSource
from refbrowser.app.plot.subject import Subject
from refbrowser.app.plot.values_view import PictureRows
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.colouring import flag_shares
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.readout import notes_of, value_at

_UNWRITTEN = "the default fill of netCDF: nothing was ever written"


class Stage(QObject):
    """Shows what the loader brings.

    Signals
    -------
    settled()
        Nothing is still being read for what is shown.
    pictureEnded()
        The picture on the screen is complete.
    controlsChanged()
        Something of another kind is shown: a line, an image, values or a card.
    valuesChanged()
        Other values are on the screen, or more of them.
    """

    settled = Signal()
    pictureEnded = Signal()
    controlsChanged = Signal()
    valuesChanged = Signal()

    def __init__(
        self, pane: PaneParts, subject: Subject, coordinates: CoordinateReader, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._pane, self._subject, self._coordinates = pane, subject, coordinates
        #: Whether the array is seen, not a card.
        self.shows_picture = False
        self.drawing = Drawing(pane.canvas, pane.bar, self)
        self.pointing = Pointing(self.drawing, self)
        self.loader = PictureLoader("plot", self)
        self.refiner = Refiner(self.drawing, self)
        self.loader.shown.connect(self._shown)
        self.loader.filled.connect(self._filled)
        self.loader.ended.connect(self._ended)
        self.refiner.changed.connect(self._refined)
        self.refiner.ended.connect(self.tell_settled)

    def clear(self) -> None:
        """Show no picture, and stop reading."""
        self.loader.clear()
        self.refiner.drop()
        self.drawing.clear()
        self.pointing.forget()
        self._pane.values.clear()
        self._pane.charts.clear()
        self.valuesChanged.emit()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is still being read for what is shown."""
        reads = self.loader.is_reading or self.refiner.is_reading or self._coordinates.waits
        return not reads and self._pane.charts.is_settled()

    def tell_settled(self) -> None:
        """Tell it where it is so."""
        if self.is_settled:
            self.settled.emit()

    def redraw(self) -> None:
        """Draw everything again, for another theme."""
        if self.drawing.base is not None:
            self.drawing.set_pictures(self.drawing.base, self.drawing.detail)
            self.drawing.draw()

    def present(self) -> None:
        """Show what has come, as it is to be taken now."""
        picture = self.loader.current
        if picture is None:
            if self._subject.is_charted:
                self.tell_settled()
            return
        self._shown(picture)
        if picture.finished and not self.loader.is_reading:
            self._ended(picture)

    # What the loader brings

    def _shown(self, picture: Picture) -> None:
        if self._coordinates.waits:
            return
        subject = self._subject
        if not subject.is_plot:
            self._show_values(picture)
            return
        drawing = self.drawing
        # The slice that is drawn: the newest one may still be on its way.
        drawing.set_slice(picture.plan.slice, self._coordinates.coordinates, subject.shown, subject.label)
        drawing.set_pictures(picture, self.refiner.picture_for(picture))
        self._show_page(self._pane.canvas)
        state = subject.slice
        if state is not None and picture.plan.slice.axes == state.axes:
            self._show_window(picture)
        self._filled()

    def _show_window(self, picture: Picture) -> None:
        """Show the part of the slice that is to be seen next: the whole of a new one, or a chunk."""
        subject, drawing = self._subject, self.drawing
        window, subject.window = subject.window, None
        if window is not None and picture.plan.slice != subject.slice:
            # The slice that the chunk is part of is still on its way.
            subject.window, window = window, None
        if subject.kept_view is not None:
            drawing.draw()
            drawing.keep_view(subject.kept_view)
            subject.kept_view = None
        elif window is not None:
            drawing.draw()
            drawing.show_chunk(window)
        elif subject.view_is_new:
            drawing.draw()
            drawing.reset_view(picture.plan.ranges if subject.choice == "middle" else None)
        subject.view_is_new = False

    def _filled(self) -> None:
        picture = self.loader.current
        if picture is None or self._coordinates.waits:
            return
        if self._subject.is_plot:
            self.drawing.take_news(complete=picture.finished)
            self.pointing.say()
        elif picture.node.shape:
            self._pane.values.refresh()
        else:
            self._show_values(picture)
        self._show_notes(picture)
        self.valuesChanged.emit()

    def _ended(self, picture: Picture) -> None:
        if self._coordinates.waits or self._show_failure(picture):
            return
        if self._subject.is_plot:
            self.drawing.take_news(complete=True)
            self.pointing.say()
            self._show_notes(picture)
            self.valuesChanged.emit()
            self.pictureEnded.emit()
        self.tell_settled()

    def _refined(self) -> None:
        base = self.drawing.base
        if base is not None:
            self.drawing.set_pictures(base, self.refiner.picture_for(base))
            self.drawing.draw()
            self._show_notes(base)
            self.valuesChanged.emit()

    def _show_notes(self, picture: Picture) -> None:
        """Show what the colours and patterns of a picture mean, and what else there is to know."""
        self._pane.legend.set_picture(picture, self._note(picture))
        self._pane.canvas.set_message(self._emptiness(picture))
        shown, flags = self._subject.shown, self._pane.flags
        flagged = self._subject.is_image and shown.flags is not None
        flags.setVisible(flagged)
        if flagged:
            flags.set_flags(shown.flags, self.drawing.palette.table())
            if picture.finished:
                flags.set_shares(flag_shares(picture.sample(), shown))

    def _note(self, picture: Picture) -> str:
        """Return what else there is to know about a picture."""
        detailed, subject = self.refiner.picture_for(picture) is not None, self._subject
        notes = [*self._coordinates.errors, *notes_of(picture, detailed, subject.choice == "middle")]
        if self._has_come(picture):
            if self.drawing.is_log_in_vain:
                notes.append("no value is above zero, where a logarithmic scale is")
            elif self.drawing.has_values and self._is_unwritten(picture):
                notes.append(f"every value is {_UNWRITTEN}")
        return "   ".join(notes)

    def _emptiness(self, picture: Picture) -> str:
        """Return why no value is seen although all have come; empty where any is seen."""
        subject, drawing = self._subject, self.drawing
        if not self._has_come(picture) or drawing.has_values or drawing.is_log_in_vain:
            return ""
        hint = "\nWithout CF the stored numbers are shown." if subject.shown.has_coding else ""
        return f"Every value here is {_UNWRITTEN if self._is_unwritten(picture) else 'missing'}.{hint}"

    def _has_come(self, picture: Picture) -> bool:
        return picture.finished and picture.has_data and self._subject.is_plot

    def _is_unwritten(self, picture: Picture) -> bool:
        return picture.all_done and self._subject.shown.never_written(picture.values)

    def _show_values(self, picture: Picture) -> None:
        shown, pane = self._subject.shown, self._pane
        node = picture.node
        if not node.shape:
            pane.values.show_scalar(value_at(picture, shown, ()), node.path)
        else:
            coordinate = self._coordinates.coordinates[picture.plan.slice.x]
            pane.values.show_rows(PictureRows(picture, coordinate, shown))
        pane.legend.set_picture(picture, self._note(picture))
        self._show_page(pane.values)

    def show_charts(self, document: PlotSource, whole: ArrayNode) -> None:
        """Show charts of nested values in the place of the picture."""
        self._pane.charts.set_array(document, whole)
        self._pane.legend.set_picture(None, "")
        self._show_page(self._pane.charts)
        self.tell_settled()

    # Cards

    def show_hint(self, heading: str, text: str) -> None:
        """Say in the place of the picture why there is none."""
        self._pane.cards.show_hint(heading, text)
        self.show_card()

    def show_card(self) -> None:
        """Bring the card to the front."""
        self.pointing.forget()
        self._pane.legend.set_picture(None, "")
        self._show_page(self._pane.cards)
        self.tell_settled()

    def _show_page(self, page: QWidget) -> None:
        self.shows_picture = page is not self._pane.cards
        self._pane.show_page(page)
        self.controlsChanged.emit()

    def _show_failure(self, picture: Picture) -> bool:
        """Show a card where nothing could be read; whether there is one."""
        if picture.has_data or picture.count(ChunkState.MISSING):
            return False
        error: BaseException | None = next(iter(picture.errors.values()), None) or picture.error
        if error is None:
            return False
        self._pane.cards.show_failure(picture.node.path, error)
        self.show_card()
        return True
