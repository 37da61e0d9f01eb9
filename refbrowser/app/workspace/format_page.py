"""What a page of a format is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.frame.frame import Frame


class FormatPage(QObject):
    """What a format shows in a window: a pane in a tab, bars over the tabs, or both.

    Signals
    -------
    changed()
        `is_offered` may be another one.

    Parameters
    ----------
    tab
        The pane in its tab; None where there is none.
    bars
        From the top down, hidden.
    """

    changed = Signal()

    def __init__(self, frame: Frame, tab: QWidget | None = None, bars: Sequence[QWidget] = ()) -> None:
        super().__init__(frame.window())
        self.tab, self.bars = tab, tuple(bars)

    def set_document(self, document: OpenDocument | None) -> None:
        """Show a document of the format that is current, or may have changed; None hides the bars."""
        raise NotImplementedError

    def is_offered(self) -> bool:
        """Whether its tab is there for the document that it was given."""
        return True

    def read_again(self) -> None:
        """Read again what is shown: some of it proved to be damaged."""
