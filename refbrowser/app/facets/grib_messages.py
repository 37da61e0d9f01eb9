"""The messages that an index of a GRIB file lists, in place of the arrays that they are put together to."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.formats.registry import GRIB_INDEX

_OPTION = "messages"


class GribMessageCommands(CommandGroup):
    """The command that shows an index of a GRIB file as a table, or as arrays again."""

    actions = (
        ActionSpec(
            "show_grib_messages",
            "GRIB messa&ges",
            menu="&Data",
            when="is_grib_index",
            check="are_grib_messages_shown",
            tip="Show the messages that the index of a GRIB file lists as a table, not as arrays",
        ),
    )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what the action of this group does."""
        return by_name(self.show_grib_messages)

    def conditions(self) -> dict[str, bool]:
        """Return whether the current document was made from an index, and what is shown of it."""
        document = self._current
        state = None if document is None else document.document
        is_index = state is not None and state.format == GRIB_INDEX.name
        return {"is_grib_index": is_index, "are_grib_messages_shown": is_index and self._are_shown}

    @property
    def _are_shown(self) -> bool:
        document = self._current
        return document is not None and bool({**document.kept, **document.options}.get(_OPTION))

    def show_grib_messages(self) -> None:
        """Read the index again, as what is not shown now; edits are asked about."""
        document, are_shown = self._current, self._are_shown
        if document is None:
            return

        def again() -> None:
            document.choose(_OPTION, None if are_shown else True)
            document.reload()

        if document.is_pending:
            self._workspace.questions.reload(document, again)
        else:
            again()
