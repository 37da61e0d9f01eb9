"""What the user prefers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.shell.preferences import THEMES


class PreferenceCommands(CommandGroup):
    """The preferences, and the themes of the menu View."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        themes = {f"theme_{theme}": partial(self._use_theme, theme) for theme, _title in THEMES}
        return {**by_name(self.preferences, self.toggle_internal), **themes}

    def conditions(self) -> dict[str, bool]:
        """Return which theme is in force, and what is ticked."""
        chosen = self._window.preferences.text("theme")
        themes = {f"is_{theme}_theme": theme == chosen for theme, _title in THEMES}
        return {**themes, "is_internal": self._window.preferences.is_on("internal")}

    def preferences(self) -> None:
        """Show the dialog of the preferences."""
        from refbrowser.app.dialogs.preferences_dialog import PreferencesDialog

        shown = self._window.findChild(PreferencesDialog)
        if shown is None:
            shown = PreferencesDialog(self._window.preferences, self._window)
        shown.show()
        shown.raise_()
        shown.activateWindow()

    def toggle_internal(self) -> None:
        """Show internal members among the attributes, or hide them."""
        self._window.preferences.set("internal", not self._window.preferences.is_on("internal"))
        self._window.update_actions()

    def _use_theme(self, theme: str) -> None:
        self._window.preferences.set("theme", theme)
        self._window.update_actions()
