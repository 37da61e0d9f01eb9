"""Preferences: kept, bounded, and in force at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLineEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot
from window_fixtures import Open, button

from refbrowser.app.dialogs.preferences_dialog import PreferencesDialog
from refbrowser.app.settings.preferences import MIB, PREFERENCES, Preferences
from refbrowser.app.settings.settings import Settings
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.io.plan import LinkModels
from refbrowser.limits import ADJUSTABLE, LIMITS, Limits, adjust

Settle = Callable[[], None]


@pytest.fixture(autouse=True)
def restore(styled: QApplication) -> Iterator[None]:
    yield
    for name in ADJUSTABLE:
        adjust(name, getattr(Limits, name))
    theme.choose(styled, "light")


@pytest.fixture
def dialog(window: MainWindow) -> PreferencesDialog:
    window.actions_["preferences"].trigger()
    found = window.findChild(PreferencesDialog, "preferencesDialog")
    assert found is not None
    return found


class TestValues:
    def test_defaults_are_those_of_the_limits(self, styled: QApplication) -> None:
        for item in PREFERENCES:
            if item.limit:
                assert item.default * item.scale == getattr(Limits, item.limit)
        preferences = {item.name: item for item in PREFERENCES}
        assert preferences["cache"].default * MIB == Limits.cache
        assert preferences["connections"].default == preferences["connections"].high
        assert preferences["connections"].default == Limits.connections_per_host

    def test_what_is_set_is_kept_and_told_once(self, styled: QApplication) -> None:
        preferences = Preferences(Settings())
        told: list[str] = []
        preferences.changed.connect(told.append)
        preferences.set("theme", "dark")
        preferences.set("theme", "dark")
        preferences.set("cf", False)
        preferences.set("connections", 6)
        assert told == ["theme", "cf", "connections"]
        again = Preferences(Settings())
        assert (again.text("theme"), again.is_on("cf"), again.number("connections")) == ("dark", False, 6)
        again.restore_defaults()
        assert all(again.is_default(item.name) for item in PREFERENCES)
        assert all(Settings().preference(item.name) is None for item in PREFERENCES)

    @pytest.mark.parametrize(("name", "kept", "value"), [
        ("theme", "pink", "system"), ("cf", "maybe", True), ("connections", "many", 128),
        ("connections", "0", 1), ("connections", "1000000", 128), ("cache", "-5", 0),
        ("cache", "9" * 30, 512),
    ])  # fmt: skip
    def test_what_makes_no_sense(self, styled: QApplication, name: str, kept: str, value: object) -> None:
        settings = Settings()
        settings.set_preference(name, kept)
        assert Preferences(settings).value(name) == value

    def test_limits_that_hold_for_everyone_cannot_be_set(self) -> None:
        with pytest.raises(ValueError, match="chunk_size"):
            adjust("chunk_size", 1)


class TestDialog:
    @pytest.mark.slow
    def test_every_preference_has_a_widget_that_shows_it(self, dialog: PreferencesDialog) -> None:
        for item in PREFERENCES:
            found = dialog.findChild(QWidget, f"preference_{item.name}")
            assert isinstance(found, QComboBox | QSpinBox | QCheckBox | QLineEdit), item.name
            assert found.accessibleName() == item.title

    @pytest.mark.slow
    def test_colour_maps_are_those_of_the_plot(self, dialog: PreferencesDialog) -> None:
        from refbrowser.app.plot.colours.colour_maps import DEFAULT_MAP, MAPS

        choice = dialog.findChild(QComboBox, "preference_colour_map")
        assert [choice.itemData(index) for index in range(choice.count())] == list(MAPS)
        assert choice.currentData() == DEFAULT_MAP

    @pytest.mark.slow
    def test_theme_is_in_force_at_once(
        self, window: MainWindow, dialog: PreferencesDialog, styled: QApplication
    ) -> None:
        choice = dialog.findChild(QComboBox, "preference_theme")
        choice.setCurrentIndex(choice.findData("dark"))
        assert theme.colors() is theme.DARK
        assert window.actions_["theme_dark"].isChecked()
        window.actions_["theme_light"].trigger()
        assert theme.colors() is theme.LIGHT
        assert choice.currentData() == "light"

    @pytest.mark.slow
    def test_sizes_are_limits_at_once(self, window: MainWindow, dialog: PreferencesDialog) -> None:
        field = dialog.findChild(QSpinBox, "preference_view_chunks")
        field.setValue(7)
        assert LIMITS.view_chunks == 7
        dialog.findChild(QSpinBox, "preference_json_question").setValue(10)
        assert LIMITS.json_question == 10 * MIB
        button(dialog, "preferencesDefaultsButton").click()
        assert LIMITS.view_chunks == Limits.view_chunks
        assert LIMITS.json_question == Limits.json_question
        assert field.value() == Limits.view_chunks

    @pytest.mark.slow
    def test_session_follows(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, dialog: PreferencesDialog
    ) -> None:
        window.preferences.set("cache", 3)
        document = opened(small)
        settle()
        assert document.session is not None
        assert document.session.cache.capacity == 3 * MIB
        dialog.findChild(QSpinBox, "preference_cache").setValue(5)
        assert document.session.cache.capacity == 5 * MIB

    @pytest.mark.slow
    def test_plot_follows(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, dialog: PreferencesDialog
    ) -> None:
        opened(small)
        settle()
        plot = window.centre.plot
        assert plot is not None
        told: list[object] = []
        plot.set_defaults = lambda *values: told.append(values)  # type: ignore[method-assign]
        plot.set_prefetch = told.append  # type: ignore[method-assign]
        dialog.findChild(QCheckBox, "preference_cf").setChecked(False)
        dialog.findChild(QComboBox, "preference_colour_map").setCurrentText("Magma")
        dialog.findChild(QCheckBox, "preference_prefetch").setChecked(False)
        assert told == [("Viridis", False), True, ("Magma", False), True, ("Magma", False), False]

    @pytest.mark.slow
    def test_one_dialog_is_enough(self, window: MainWindow, dialog: PreferencesDialog) -> None:
        window.actions_["preferences"].trigger()
        assert window.findChildren(PreferencesDialog) == [dialog]


@pytest.mark.slow
def test_kept_theme_and_limits_are_in_force_in_the_next_window(
    styled: QApplication, qtbot: QtBot, settings_folder: Path
) -> None:
    Settings().set_preference("view_chunks", "9")
    Settings().set_preference("theme", "dark")
    window = MainWindow()
    qtbot.addWidget(window)
    window.complete()
    assert LIMITS.view_chunks == 9
    assert window.actions_["theme_dark"].isChecked()
    QSettings().sync()
    window.close()


def test_connections_are_bounded_for_hosts_known_and_new() -> None:
    models = LinkModels()
    known = models.of("https://a")
    models.set_most(2)
    assert known.link.connections(10**9, 1000) == 2
    assert models.of("https://b").link.connections(10**9, 1000) == 2
    known.throttle()
    models.set_most(100)
    assert known.link.most == LIMITS.connections_throttled
    assert models.of("https://b").link.most == 100


@pytest.mark.slow
def test_system_theme_follows_the_desktop(styled: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theme, "system_colors", lambda: theme.DARK)
    theme.choose(styled, "light")
    styled.styleHints().colorSchemeChanged.emit(styled.styleHints().colorScheme())
    assert theme.colors() is theme.LIGHT
    theme.choose(styled, "system")
    assert theme.colors() is theme.DARK
    monkeypatch.setattr(theme, "system_colors", lambda: theme.LIGHT)
    styled.styleHints().colorSchemeChanged.emit(styled.styleHints().colorScheme())
    assert theme.colors() is theme.LIGHT
