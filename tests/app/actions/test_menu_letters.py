"""The letters that choose entries of menus."""

from __future__ import annotations

from collections import Counter

import pytest

from refbrowser.app.actions.menus import HELP, REFERENCES, VIEW, WINDOW
from refbrowser.app.shell.main_window import MainWindow


@pytest.mark.parametrize("menu", [VIEW, REFERENCES, WINDOW, HELP])
def test_no_two_entries_have_one_letter(menu: tuple[object, ...]) -> None:
    specs = [spec for spec in menu if spec is not None]
    titles = {spec.title if not spec.submenu else spec.submenu for spec in specs}  # type: ignore[attr-defined]
    places = {"": titles}
    for spec in specs:
        if spec.submenu:  # type: ignore[attr-defined]
            places.setdefault(spec.submenu, set()).add(spec.title)  # type: ignore[attr-defined]
    for among in places.values():
        letters = Counter(title.partition("&")[2][:1].lower() for title in among if "&" in title)
        assert [letter for letter, count in letters.items() if count > 1] == []


def test_pages_of_formats_have_letters_of_their_own(window: MainWindow) -> None:
    (view,) = (action.menu() for action in window.menuBar().actions() if action.text() == "&View")
    titles = [action.text() for action in view.actions() if "&" in action.text()]
    assert "Snaps&hots" in titles
    letters = Counter(title.partition("&")[2][:1].lower() for title in titles)
    assert [letter for letter, count in letters.items() if count > 1] == []
