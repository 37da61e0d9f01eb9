"""Values and pictures that leave the window: the view as a file, or on the clipboard; and the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QWidget

from refbrowser.app.commands.copying import Shown, shown_beside, shown_by
from refbrowser.app.commands.files import PermissionCommands
from refbrowser.app.commands.view_picture import ViewPicture, png_bytes
from refbrowser.app.dialogs.export_target import ask_target
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.loading import load
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.views.plot.plot_kind import Export
    from refbrowser.views.plot.slice_files import ShownValues


#: Forms of a picture: the suffix, the words of the dialog, and what draws it.
_PICTURES: dict[str, tuple[str, Callable[[ViewPicture], QImage | bytes]]] = {
    ".png": ("Picture (*.png)", ViewPicture.image),
    ".svg": ("Drawing (*.svg)", ViewPicture.svg),
    ".pdf": ("Page (*.pdf)", ViewPicture.pdf),
}
#: Cells that Copy values puts on the clipboard at most.
COPY_CELLS = 1_000_000


@dataclass(frozen=True, slots=True)
class FrozenView:
    """A view as it was when a dialog opened: the view itself may go on behind it.

    Attributes
    ----------
    read
        Reads its values, of the document as it was then.
    exports
        What its values can be written as.
    """

    shown: Shown
    picture: ViewPicture
    read: Callable[[TaskControl], ShownValues]
    exports: tuple[Export, ...]

    def forms(self) -> dict[str, str]:
        """Return what it can be written as: the suffix, and the words of the dialog."""
        pictures = {suffix: words for suffix, (words, _make) in _PICTURES.items()}
        return pictures | {export.suffix: export.words for export in self.exports}


class ValueCommands(CommandGroup):
    """What is done with the values on the screen."""

    #: Where the last view was written.
    _folder = ""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._settings = workspace.settings
        self._permissions = workspace.groups[PermissionCommands]

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.export_view, self.copy_values, self.copy_picture)

    def conditions(self) -> dict[str, bool]:
        """Return whether an array is shown."""
        plot = self._centre.plot
        return {"has_slice": plot is not None and plot.slice_state() is not None}

    def connect_table(self) -> None:
        """Carry out what the table asks for."""
        table = self._centre.table
        if table is None:
            return
        kept = self._settings.view(table.grid.objectName())
        table.grid.keep_widths({str(kind): width for kind, width in zip(kept[::2], kept[1::2], strict=False)})
        table.grid.widthsChanged.connect(self._keep_widths)
        table.said.connect(self._workspace.say)
        table.failed.connect(self._workspace.show_error)
        table.cellActivated.connect(self._show_plot)
        table.exportRequested.connect(self.export_view)
        table.trustReviewRequested.connect(self._permissions.review_trust)

    def _keep_widths(self) -> None:
        """Keep how wide columns of numbers, dates and texts are; not those of one structure's fields."""
        table = self._centre.table
        if table is not None:
            widths = table.grid.widths_kept().items()
            numbers = [number for kind, width in widths if kind.isdecimal() for number in (int(kind), width)]
            self._settings.set_view(table.grid.objectName(), numbers)

    def _show_plot(self) -> None:
        from refbrowser.app.frame.centre import PLOT

        self._centre.show_tab(PLOT)

    def _shown(self) -> Shown | None:
        """Return what the view in front shows."""
        centre = self._centre
        return shown_beside(centre.plot) if centre.table_is_shown() else shown_by(centre.plot)

    # Files

    def export_view(self) -> None:
        """Ask where to write what is on the screen now, and as what."""
        if self._centre.plot is not None:
            # Nothing moves behind the dialog either.
            self._centre.plot.tools.animation.pause()
        view = self.freeze()
        if view is not None:
            self._ask_where(view, f"{view.shown.name}.csv")

    def freeze(self) -> FrozenView | None:
        """Return the view that is in front as it is on the screen; None where no array is shown."""
        shown, picture = self._shown(), self._picture()
        if shown is None or picture is None:
            return None
        return FrozenView(shown, picture, self._reading(shown), self._exports())

    def _exports(self) -> tuple[Export, ...]:
        """Return what values of the view in front can be written as; those of a table as any."""
        from refbrowser.views.plot.plot_kind import EXPORTS

        plot = self._centre.plot
        kind = None if plot is None or self._centre.table_is_shown() else plot.kind()
        return EXPORTS if kind is None else kind.exports

    def _ask_where(self, view: FrozenView, name: str) -> None:
        """Ask for a file; the name that is proposed may have a suffix that nothing is written as."""
        shown = view.shown
        path = shown.document.path
        folder = self._folder or (str(Path.home()) if "://" in path else str(Path(path).absolute().parent))
        ask_target(
            f"Export values: {shown.text or shown.name}",
            "exportViewDialog",
            view.forms(),
            folder,
            lambda chosen: self.write(view, chosen),
            self._workspace.window(),
            name,
        )

    def write(self, view: FrozenView, path: str) -> None:
        """Write a view to a file; its suffix says as what."""
        suffix = Path(path).suffix.lower()
        self._folder = str(Path(path).parent)
        forms = view.forms()
        if suffix not in forms:
            name = Path(path).name
            self._workspace.say(
                f"Not written: {one_line(name)} needs one of these suffixes: {', '.join(forms)}"
            )
            self._ask_where(view, name)
        elif suffix in _PICTURES:
            self._write_picture(view, path, _PICTURES[suffix][1](view.picture))
        else:
            export = next(each for each in view.exports if each.suffix == suffix)
            self._write_values(view, path, export)

    def _write_picture(self, view: FrozenView, path: str, drawn: QImage | bytes) -> None:
        def write(control: TaskControl) -> None:
            from refbrowser.io.files.atomic import write_atomically

            data = drawn if isinstance(drawn, bytes) else png_bytes(drawn)
            write_atomically(path, [data], cancel=control.token)

        self._run(
            f"Write {path}",
            write,
            lambda _none: self._written(path),
            lambda: self.write(view, path),
        )

    def _write_values(self, view: FrozenView, path: str, export: Export) -> None:
        def write(control: TaskControl) -> str:
            from refbrowser.io.files.atomic import write_atomically

            values = view.read(control)
            write_atomically(path, load(export.written_by)(values), cancel=control.token)
            return values.reserve

        title = f"Export {view.shown.layout.node.path} to {path}"
        self._run(title, write, lambda reserve: self._written(path, reserve), lambda: self.write(view, path))

    def _written(self, path: str, reserve: str = "") -> None:
        self._workspace.say(f"Written: {one_line(path)}{reserve}")

    # The clipboard

    def copy_values(self) -> None:
        """Put the values of the view on the clipboard, with their coordinates, tabs between the cells."""
        shown = self._shown()
        if shown is not None:
            self._copy(shown)

    def _copy(self, shown: Shown) -> None:
        count = 1
        for taken in shown.ranges:
            count *= len(taken)
        if count > COPY_CELLS:
            words = f"{count_text(count)} values are too many to copy"
            self._workspace.say(f"{words}; Export values writes them to a file")
            return
        read = self._reading(shown)

        def make(control: TaskControl) -> tuple[str, str]:
            from refbrowser.views.plot.slice_files import rows_with_headers, tsv_text

            values = read(control)
            return tsv_text(rows_with_headers(values)), values.reserve

        def copied(answer: tuple[str, str]) -> None:
            text, reserve = answer
            QGuiApplication.clipboard().setText(text)
            sizes = " × ".join(count_text(len(taken)) for taken in shown.ranges) or "1"
            at = f" at {shown.text}" if shown.text else ""
            self._workspace.say(f"{sizes} values copied{at}, with their coordinates{reserve}")

        self._run(f"Copy values of {shown.layout.node.path}", make, copied, lambda: self._copy(shown))

    def copy_picture(self) -> None:
        """Put a picture of the view on the clipboard."""
        picture = self._picture()
        if picture is not None:
            QGuiApplication.clipboard().setImage(picture.image())
            self._workspace.say("Picture copied")

    # What both need

    def _reading(self, shown: Shown) -> Callable[[TaskControl], ShownValues]:
        dataset = shown.document.dataset
        assert dataset is not None

        def read(control: TaskControl) -> ShownValues:
            from refbrowser.views.plot.slice_files import read_shown

            return read_shown(
                dataset.session, dataset.access, shown.layout, shown.ranges, control.token, control.progress
            )

        return read

    def _run(
        self,
        title: str,
        work: Callable[[TaskControl], object],
        done: Callable[[Any], None],
        again: Callable[[], object],
    ) -> None:

        def failed(error: BaseException) -> None:
            self._workspace.show_error(f"{title} failed", error, again)

        # The title names the file: exports of one view to several files do not replace each other.
        self._workspace.tasks.run(f"view: {title}", title, work, done, failed)

    def _picture(self) -> ViewPicture | None:

        centre = self._centre
        shown = self._shown()
        if shown is None or centre.plot is None or centre.table is None:
            return None
        grid: list[tuple[QWidget, int]] = [(centre.table.grid.viewport(), 0)]
        parts = grid if centre.table_is_shown() else centre.plot.drawn_parts()
        title = centre.plot.header.title.text()
        units = shown.layout.shown.units
        words = [f"{title} [{units}]" if units else title, shown.text]
        return ViewPicture(words[0], f"{shown.layout.node.path}   {words[1]}".strip(), parts)
