"""Text and marks are legible in each scheme: the contrast ratios that WCAG 2.2 asks for (1.4.3, 1.4.11)."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.theme import Colors

TEXT, MARK = 4.5, 3.0
#: What text and marks are drawn on.
GROUNDS = ("window", "surface", "raised", "hover", "accent_soft")
SOFT = {"fault": "fault_soft", "warning": "warning_soft", "stale": "stale_soft"}
SCHEMES = pytest.mark.parametrize("scheme", theme.SCHEMES.values(), ids=theme.SCHEMES.keys())
#: What WCAG asks for enhanced contrast (1.4.6).
ENHANCED = 7.0


def luminance(color: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2, definitions)."""
    parts = QColor(color).getRgbF()[:3]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_black_and_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@SCHEMES
def test_text(scheme: Colors) -> None:
    names = ("text", "muted", "accent", "fault", "warning", "good", "changed", "stale")
    low = {
        (name, ground): round(contrast(getattr(scheme, name), getattr(scheme, ground)), 2)
        for name, ground in itertools.product(names, GROUNDS)
        if contrast(getattr(scheme, name), getattr(scheme, ground)) < TEXT
    }
    assert low == {}
    for name, ground in {**SOFT, "on_accent": "accent"}.items():
        assert contrast(getattr(scheme, name), getattr(scheme, ground)) >= TEXT, (name, ground)
    for ground in SOFT.values():
        assert contrast(scheme.text, getattr(scheme, ground)) >= TEXT


@SCHEMES
def test_syntax(scheme: Colors) -> None:
    for name in ("syntax", "syntax_text", "syntax_number"):
        assert contrast(getattr(scheme, name), scheme.surface) >= TEXT, name


@SCHEMES
def test_marks_of_the_keyboard(scheme: Colors) -> None:
    """The frame of the widget that has the keyboard is told from its ground and from the other frames."""
    for ground in GROUNDS:
        assert contrast(scheme.accent, getattr(scheme, ground)) >= MARK
    assert contrast(scheme.accent, scheme.border) >= MARK


@pytest.mark.parametrize("scheme", [theme.CONTRAST_LIGHT, theme.CONTRAST_DARK], ids=["light", "dark"])
def test_high_contrast(scheme: Colors) -> None:
    names = ("text", "muted", "accent", "fault", "warning", "good", "changed", "stale")
    for name, ground in itertools.product(names, GROUNDS):
        assert contrast(getattr(scheme, name), getattr(scheme, ground)) >= ENHANCED, (name, ground)
    for ground in ("window", "surface"):
        assert contrast(scheme.border, getattr(scheme, ground)) >= MARK


def test_the_scheme_in_force_is_told_by_its_window(qapp: QApplication) -> None:
    before = theme.colors()
    try:
        for name, scheme in theme.SCHEMES.items():
            qapp.setPalette(theme._palette(scheme))
            assert theme.colors() is scheme, name
    finally:
        qapp.setPalette(theme._palette(before))
