"""What becomes of preferences: each is carried to what it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QApplication

from refbrowser.app.settings.preferences import COMPUTE, MIB, PREFERENCES
from refbrowser.app.widgets import theme

if TYPE_CHECKING:
    from refbrowser.app.workspace.workspace import Workspace


class PreferencesInForce(QObject):
    """Carries the preferences of one window to what they are about."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._centre = workspace.centre
        self._attributes = workspace.attributes
        self._preferences = workspace.preferences
        self._limits = {item.name: item for item in PREFERENCES if item.limit}
        self._actions: dict[str, Callable[[], object]] = {
            "theme": self._use_theme,
            "colour_map": self._use_plot,
            "cf": self._use_plot,
            "prefetch": self._use_plot,
            "first_picture": lambda: None,
            "restore": lambda: None,
            "lock_on_save": lambda: None,
            "internal": self._use_attributes,
            "connections": self._use_session,
            "cache": self._use_session,
            **{item.name: self._use_compute for item in PREFERENCES if item.section == COMPUTE},
        }
        self._preferences.changed.connect(self._changed)
        self._centre.plotMade.connect(lambda _plot: self._use_plot())
        self._use_session()
        self._use_attributes()
        self._use_compute()
        for name in self._limits:
            if not self._preferences.is_default(name):
                self._use_limit(name)

    def _changed(self, name: str) -> None:
        if name in self._limits:
            self._use_limit(name)
        else:
            self._actions[name]()
        self._workspace.update_actions()

    def _use_theme(self) -> None:
        application = QCoreApplication.instance()
        if isinstance(application, QApplication):
            theme.choose(application, self._preferences.text("theme"))

    def _use_attributes(self) -> None:
        self._attributes.show_internal(self._preferences.is_on("internal"))

    def _use_plot(self) -> None:
        for plot in self._centre.plots():
            plot.set_defaults(self._preferences.text("colour_map"), self._preferences.is_on("cf"))
            plot.set_prefetch(self._preferences.is_on("prefetch"))

    def _use_session(self) -> None:
        cache = self._preferences.number("cache") * MIB
        self._workspace.documents.tune(self._preferences.number("connections"), cache)

    def _use_compute(self) -> None:
        self._workspace.documents.compute_on(self._preferences.compute)

    def _use_limit(self, name: str) -> None:
        from refbrowser.limits import Limits, adjust

        preference = self._limits[name]
        default = getattr(Limits, preference.limit)
        value = self._preferences.number(name) * preference.scale
        adjust(preference.limit, default if self._preferences.is_default(name) else value)
