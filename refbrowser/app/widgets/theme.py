"""Colours, spacing and fonts of the window, light and dark, in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

#: Distances in device independent pixels: between parts of one thing, between things, around a pane.
SMALL, MEDIUM, LARGE, HUGE = 4, 8, 12, 24
#: Height of one row of a list.
ROW = 24
#: Property of the application: the scheme that was chosen.
_CHOICE = "refbrowserTheme"
#: A tool tip is cut at this many characters.
TOOLTIP_LIMIT = 2_000


class Colors(NamedTuple):
    """The colours of one scheme; every mark that uses one also has a glyph, weight or pattern of its own."""

    dark: bool
    window: str
    surface: str
    raised: str
    border: str
    text: str
    muted: str
    accent: str
    accent_soft: str
    on_accent: str
    fault: str
    fault_soft: str
    warning: str
    warning_soft: str
    stale: str
    stale_soft: str
    good: str
    changed: str
    hover: str
    syntax: str
    syntax_text: str
    syntax_number: str


LIGHT = Colors(
    dark=False,
    window="#f3f5f8",
    surface="#ffffff",
    raised="#f9fafc",
    border="#d5dae2",
    text="#17202e",
    muted="#566173",
    accent="#0f62ac",
    accent_soft="#dcebfa",
    on_accent="#ffffff",
    fault="#b3261e",
    fault_soft="#fcebea",
    warning="#845306",
    warning_soft="#fdf3dc",
    stale="#b03a78",
    stale_soft="#fbe6f0",
    good="#1a6f3c",
    changed="#7a3ea8",
    hover="#eaf0f7",
    syntax="#0b5fa5",
    syntax_text="#216e39",
    syntax_number="#8a4600",
)

DARK = Colors(
    dark=True,
    window="#191d24",
    surface="#1f242c",
    raised="#262c36",
    border="#38404c",
    text="#e3e8ef",
    muted="#9ba7b8",
    accent="#69b1f5",
    accent_soft="#203a55",
    on_accent="#0d1825",
    fault="#ff8f86",
    fault_soft="#43272a",
    warning="#edbd5f",
    warning_soft="#3d3322",
    stale="#e08dbb",
    stale_soft="#45293a",
    good="#7fd39a",
    changed="#cda1f2",
    hover="#2a323d",
    syntax="#7cc0ff",
    syntax_text="#8fd6a4",
    syntax_number="#f0b37e",
)

#: For those who need more contrast than the others have.
CONTRAST_LIGHT = Colors(
    dark=False,
    window="#ffffff",
    surface="#fefefe",
    raised="#f4f4f4",
    border="#767676",
    text="#000000",
    muted="#262626",
    accent="#00226b",
    accent_soft="#c9ddff",
    on_accent="#ffffff",
    fault="#8c0000",
    fault_soft="#ffe9e6",
    warning="#5c3200",
    warning_soft="#fff1cf",
    stale="#7d0050",
    stale_soft="#ffe4f3",
    good="#00451c",
    changed="#4b0a85",
    hover="#e2e8f2",
    syntax="#00358a",
    syntax_text="#00451c",
    syntax_number="#5c2800",
)

CONTRAST_DARK = Colors(
    dark=True,
    window="#000000",
    surface="#060606",
    raised="#141414",
    border="#6e6e6e",
    text="#ffffff",
    muted="#e0e0e0",
    accent="#9fd3ff",
    accent_soft="#0a3156",
    on_accent="#000000",
    fault="#ffb1a8",
    fault_soft="#4d0d0d",
    warning="#ffd67a",
    warning_soft="#463000",
    stale="#ffb3dc",
    stale_soft="#4a0f33",
    good="#9bf0b8",
    changed="#e3c4ff",
    hover="#262626",
    syntax="#a5d6ff",
    syntax_text="#a8f0c0",
    syntax_number="#ffcb9e",
)

#: The schemes by the names with which they are chosen.
SCHEMES = {
    "light": LIGHT,
    "dark": DARK,
    "contrast_light": CONTRAST_LIGHT,
    "contrast_dark": CONTRAST_DARK,
}
#: By the colour of the window, which tells them apart.
_BY_WINDOW = {scheme.window: scheme for scheme in SCHEMES.values()}


class Appearance(NamedTuple):
    """The colours, and the font of words, in which something else than the window is drawn."""

    colors: Colors
    font: QFont


#: What is drawn in now, the innermost last; the window's own colours and font where there is none.
_appearances: list[Appearance] = []


@contextmanager
def drawn_as(appearance: Appearance) -> Iterator[None]:
    """Draw in other colours, and with another font, than the window: on the GUI thread, and at once."""
    _appearances.append(appearance)
    try:
        yield
    finally:
        _appearances.pop()


def font(point_size_change: float = 0) -> QFont:
    """Return the font in force, the application's where nothing else is drawn."""
    words = QFont(_appearances[-1].font) if _appearances else QApplication.font()
    words.setPointSizeF(words.pointSizeF() + point_size_change)
    return words


def colors() -> Colors:
    """Return the colours in force, those of the application's palette where nothing else is drawn."""
    if _appearances:
        return _appearances[-1].colors
    window = QGuiApplication.palette().color(QPalette.ColorRole.Window)
    return _BY_WINDOW.get(window.name()) or (DARK if window.lightness() < 128 else LIGHT)


def system_colors() -> Colors:
    """Return the colours that the desktop asks for."""
    hints = QGuiApplication.styleHints()
    dark = hints.colorScheme() == Qt.ColorScheme.Dark
    # Qt knows of contrast from 6.10 on.
    accessibility = getattr(hints, "accessibility", None)
    if accessibility is not None and accessibility().contrastPreference().name == "HighContrast":
        return CONTRAST_DARK if dark else CONTRAST_LIGHT
    return DARK if dark else LIGHT


def apply(application: QApplication, scheme: Colors) -> None:
    """Give the whole application one scheme."""
    if not application.styleSheet():
        application.setPalette(_palette(scheme))
        application.setStyleSheet(_style_sheet(scheme))
        return
    # Where one sheet takes the place of another, Qt gives each widget, seen or not, the new rules, tells it
    # that its style is another one, and lays it out anew: half a second. The schemes differ in colours alone.
    # So the style first forgets which widgets have rules, and each is told its colours once. What lies in a
    # window is drawn anew with it.
    application.style().unpolish(application)
    application.setStyleSheet(_style_sheet(scheme))
    application.setPalette(_palette(scheme))
    polish = application.style().polish
    for widget in application.allWidgets():
        polish(widget)
    for window in application.topLevelWidgets():
        # Before PySide6 6.8, the method of a tree or table wants an index.
        QWidget.update(window)


def choose(application: QApplication, choice: str) -> None:
    """Use one of `SCHEMES` by its name, or the desktop's (``system``), from now on."""
    application.setProperty(_CHOICE, choice)
    apply(application, SCHEMES.get(choice) or system_colors())


def follow_system(application: QApplication, choice: str = "system") -> None:
    """Use a scheme; the desktop's also whenever it changes, while it is the one that was chosen."""

    def changed() -> None:
        if application.property(_CHOICE) == "system":
            apply(application, system_colors())

    choose(application, choice)
    application.styleHints().colorSchemeChanged.connect(lambda _scheme: changed())


def mono_font(point_size_change: float = 0) -> QFont:
    """Return the fixed-width font, in the size of the application's font."""
    from PySide6.QtGui import QFontDatabase

    fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    fixed.setPointSizeF(font(point_size_change).pointSizeF())
    fixed.setStyleHint(QFont.StyleHint.Monospace)
    return fixed


def heading_font(point_size_change: float = 3) -> QFont:
    """Return the font of a card's heading."""
    heading = font(point_size_change)
    heading.setWeight(QFont.Weight.DemiBold)
    return heading


def plain_tooltip(text: str) -> str:
    """Return foreign text so that a tool tip shows it as it stands, never as markup."""
    from html import escape

    from refbrowser.views.words import plain_lines

    shown = plain_lines(text, TOOLTIP_LIMIT)
    return f'<p style="white-space:pre-wrap">{escape(shown)}</p>' if shown else ""


def _palette(scheme: Colors) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    for name, value in (
        (role.Window, scheme.window),
        (role.WindowText, scheme.text),
        (role.Base, scheme.surface),
        (role.AlternateBase, scheme.raised),
        (role.Text, scheme.text),
        (role.PlaceholderText, scheme.muted),
        (role.Button, scheme.raised),
        (role.ButtonText, scheme.text),
        (role.BrightText, scheme.fault),
        (role.ToolTipBase, scheme.raised),
        (role.ToolTipText, scheme.text),
        (role.Highlight, scheme.accent),
        (role.HighlightedText, scheme.on_accent),
        (role.Link, scheme.accent),
        (role.LinkVisited, scheme.changed),
        (role.Light, scheme.surface),
        (role.Midlight, scheme.raised),
        (role.Mid, scheme.border),
        (role.Dark, scheme.border),
        (role.Shadow, scheme.border),
        (role.Accent, scheme.accent),
    ):
        palette.setColor(name, QColor(value))
    faded = QColor(scheme.muted)
    faded.setAlpha(140)
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, faded)
    return palette


def _style_sheet(scheme: Colors) -> str:
    return _control_style(scheme) + _list_style(scheme)


def _control_style(c: Colors) -> str:
    """Return the rules for menus, buttons and fields."""
    return f"""
QToolTip {{ color: {c.text}; background: {c.raised}; border: 1px solid {c.border}; padding: 4px 6px; }}
QMainWindow::separator {{ background: {c.window}; width: 6px; height: 6px; }}
QMainWindow::separator:hover {{ background: {c.accent_soft}; }}
QMenuBar {{ background: {c.window}; padding: 2px 4px; }}
QMenuBar::item {{ padding: 4px 10px; border-radius: 4px; }}
QMenuBar::item:selected {{ background: {c.hover}; }}
QMenu {{ background: {c.surface}; border: 1px solid {c.border}; padding: 4px; }}
QMenu::item {{ padding: 5px 28px 5px 26px; border-radius: 4px; }}
QMenu::item:selected {{ background: {c.accent_soft}; color: {c.text}; }}
QMenu::item:disabled {{ color: {c.muted}; }}
QMenu::separator {{ height: 1px; background: {c.border}; margin: 4px 8px; }}
QMenu::icon {{ padding-left: 8px; }}
QToolBar {{ background: {c.window}; border: 0; padding: 4px 8px; spacing: 2px; }}
QToolBar::separator {{ background: {c.border}; width: 1px; margin: 5px 6px; }}
QToolButton {{ border: 1px solid transparent; border-radius: 5px; padding: 4px 7px; }}
QToolButton[role="chip"] {{ padding: 2px 5px; }}
QToolButton:hover {{ background: {c.hover}; }}
QToolButton:pressed, QToolButton:checked {{ background: {c.accent_soft}; }}
QToolButton:focus {{ border-color: {c.accent}; }}
QPushButton {{ border: 1px solid {c.border}; border-radius: 5px; padding: 5px 14px; background: {c.raised};
  min-height: 16px; }}
QPushButton:hover {{ background: {c.hover}; }}
QPushButton:pressed {{ background: {c.accent_soft}; }}
QPushButton:checked {{ background: {c.accent_soft}; }}
QPushButton:focus {{ border-color: {c.accent}; }}
QPushButton[segment="first"] {{ border-top-right-radius: 0; border-bottom-right-radius: 0; }}
QPushButton[segment="last"] {{ border-top-left-radius: 0; border-bottom-left-radius: 0; margin-left: -1px; }}
QPushButton:disabled {{ color: {c.muted}; background: {c.window}; }}
QPushButton:default {{ background: {c.accent}; color: {c.on_accent}; border-color: {c.accent}; }}
QPushButton:default:disabled {{ background: {c.window}; color: {c.muted}; border-color: {c.border}; }}
QPushButton[flat="true"] {{ border-color: transparent; background: transparent; color: {c.accent};
  padding: 5px 8px; }}
QPushButton[flat="true"]:focus {{ border-color: {c.accent}; }}
QLineEdit, QPlainTextEdit {{ background: {c.surface}; border: 1px solid {c.border}; border-radius: 5px;
  padding: 3px 6px; min-height: 18px; selection-background-color: {c.accent};
  selection-color: {c.on_accent}; }}
QPlainTextEdit[role="bare"] {{ border-color: transparent; border-radius: 0; }}
QLineEdit:focus, QPlainTextEdit:focus, QPlainTextEdit[role="bare"]:focus {{ border-color: {c.accent}; }}
QLineEdit:disabled, QPlainTextEdit:disabled {{ color: {c.muted}; background: {c.window}; }}
QCheckBox:focus, QRadioButton:focus {{ border: 1px solid {c.accent}; border-radius: 5px; padding: -1px; }}
QSlider:horizontal {{ min-height: 20px; }}
QSlider:focus {{ border: 1px solid {c.accent}; border-radius: 5px; padding: -1px; }}
QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {c.border}; }}
QSlider::sub-page:horizontal {{ border-radius: 2px; background: {c.accent}; }}
QSlider::handle:horizontal {{ width: 12px; margin: -6px 0; border: 2px solid {c.accent}; border-radius: 8px;
  background: {c.surface}; }}
QSlider::handle:horizontal:hover {{ background: {c.accent_soft}; }}
QSlider::handle:horizontal:focus {{ background: {c.accent}; }}
QSlider::groove:horizontal:disabled, QSlider::sub-page:horizontal:disabled {{ background: {c.border}; }}
QSlider::handle:horizontal:disabled {{ border-color: {c.muted}; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: 0; padding: 0; min-height: 0;
  background: transparent; }}
"""


def _list_style(c: Colors) -> str:
    """Return the rules for lists, tabs, bars and strips."""
    return f"""
QAbstractItemView {{ background: {c.surface}; outline: 0; selection-background-color: {c.accent_soft};
  selection-color: {c.text}; }}
QAbstractItemView, PaintedView, QTextEdit {{ border: 1px solid transparent; }}
QAbstractItemView:focus, PaintedView:focus, QTextEdit:focus {{ border-color: {c.accent}; }}
QTreeView::item, QListView::item {{ padding: 2px 4px; }}
QComboBox QAbstractItemView {{ border: 1px solid {c.border}; }}
QDialog QTreeView {{ border: 1px solid {c.border}; border-radius: 6px; }}
QTreeView::item:hover {{ background: {c.hover}; }}
QTreeView::item:selected, QTableView::item:selected {{ background: {c.accent_soft}; color: {c.text}; }}
QHeaderView {{ background: {c.raised}; border: 0; }}
QHeaderView::section {{ background: {c.raised}; color: {c.muted}; border: 0;
  border-bottom: 1px solid {c.border}; border-right: 1px solid {c.border}; padding: 4px 8px; }}
QHeaderView::section:last {{ border-right: 0; }}
QTabWidget::pane {{ border: 1px solid {c.border}; background: {c.surface}; top: -1px; border-radius: 6px; }}
QTabBar {{ qproperty-drawBase: 0; outline: 0; }}
QTabBar::tab {{ padding: 5px 13px 6px 13px; color: {c.muted}; background: transparent;
  border: 1px solid transparent; border-bottom: 2px solid transparent; margin-right: 2px; }}
QTabBar#centreTabBar::tab {{ padding: 5px 9px 6px 9px; }}
QMainWindow > QTabBar::tab {{ padding: 5px 6px 6px 6px; }}
QComboBox[bare="true"] {{ padding: 2px 0 2px 26px; }}
QTabBar#viewTabs::tab {{ padding: 3px 4px 4px 8px; border: 1px solid transparent;
  border-bottom: 2px solid {c.border}; }}
QTabBar#viewTabs::tab:selected {{ border-bottom: 2px solid {c.muted}; }}
QTabBar#viewTabs[active="true"]::tab:selected {{ border-bottom: 2px solid {c.accent}; font-weight: 600; }}
QTabBar::tab:hover {{ color: {c.text}; }}
QTabBar::tab:selected {{ color: {c.text}; border-bottom: 2px solid {c.accent}; }}
QTabBar::tab:focus {{ color: {c.accent}; border-color: {c.accent}; }}
QStatusBar {{ background: {c.window}; color: {c.muted}; }}
QStatusBar::item {{ border: 0; }}
QProgressBar {{ border: 0; border-radius: 3px; background: {c.border}; max-height: 6px; min-height: 6px; }}
QProgressBar::chunk {{ background: {c.accent}; border-radius: 3px; }}
QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
QScrollBar::handle {{ background: {c.border}; border-radius: 4px; margin: 2px; min-height: 28px;
  min-width: 28px; }}
QScrollBar::handle:hover {{ background: {c.muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QAbstractScrollArea::corner {{ background: transparent; border: 0; }}
QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; }}
QSplitter::handle {{ background: {c.window}; }}
QFrame#card {{ background: {c.raised}; border: 1px solid {c.border}; border-radius: 8px; }}
QCheckBox::indicator:unchecked, QAbstractItemView::indicator:unchecked {{ width: 13px; height: 13px;
  border: 1px solid {c.muted}; border-radius: 3px; background: {c.surface}; }}
QLabel[role="muted"] {{ color: {c.muted}; }}
QLabel[role="fault"] {{ color: {c.fault}; }}
QLabel[role="warning"] {{ color: {c.warning}; }}
QLabel[role="paneTitle"] {{ color: {c.muted}; font-weight: 600; }}
QFrame[role="pane"] {{ background: {c.surface}; border: 1px solid {c.border}; border-radius: 6px; }}
QFrame[role="trustStrip"] {{ background: {c.warning_soft}; border: 1px solid {c.warning};
  border-radius: 6px; }}
QFrame[role="noteStrip"] {{ background: {c.accent_soft}; border: 1px solid {c.accent};
  border-radius: 6px; }}
QFrame[role="faultStrip"] {{ background: {c.fault_soft}; border: 1px solid {c.fault};
  border-radius: 6px; }}
"""
