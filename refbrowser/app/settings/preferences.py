"""What the user prefers: values with defaults, kept in the settings; each takes effect when it is changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from refbrowser.app.settings.settings import Settings
from refbrowser.views.compute_places import CLUSTER, HERE, PROCESSES, ComputeChoice

Value = bool | int | str
MIB = 1024 * 1024
#: Characters of a text without choices, and of an address or a path.
_TEXT_LIMIT, _PATH_LIMIT = 80, 4096


class Preference(NamedTuple):
    """One preference.

    Attributes
    ----------
    name
        In the settings; the object name of its widget is ``preference_<name>``.
    section, title, tip
        Where and how the dialog shows it.
    default
        Also says its type: a tick, a whole number or a text.
    choices
        Of a text: value and title of each; none where the dialog finds them, or it is typed.
    low, high
        Bounds of a number, in its unit.
    unit
        What stands behind a number.
    lowest
        What stands for the lowest number.
    typed
        Of a text without choices: what it is an example of; it is then typed. That of a file is empty.
    limit
        The field of `limits.Limits` that it changes; one unit of it is `scale`.
    """

    name: str
    section: str
    title: str
    default: Value
    tip: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    low: int = 0
    high: int = 0
    unit: str = ""
    lowest: str = ""
    typed: str | None = None
    limit: str = ""
    scale: int = 1


THEMES = (
    ("system", "As the desktop"),
    ("light", "Light"),
    ("dark", "Dark"),
    ("contrast_light", "High contrast, light"),
    ("contrast_dark", "High contrast, dark"),
)
RESTORE = (("never", "Never"), ("ask", "Offer it on the start page"), ("always", "At once"))
#: The part of the dialog that says where exports run.
COMPUTE = "Compute"
PLACES = (
    (HERE, "In this program"),
    (PROCESSES, "In separate processes"),
    (CLUSTER, "On a Dask cluster"),
)
PREFERENCES = (
    Preference("theme", "Appearance", "Theme", "system", "Colours of the window", THEMES),
    Preference(
        "restore",
        "Start",
        "Restore the last session",
        "ask",
        "Documents, views and layout of the window that was closed last",
        RESTORE,
    ),
    Preference(
        "colour_map",
        "Plot",
        "Colour map",
        "Viridis",
        "For arrays that are plotted from now on",
    ),
    Preference(
        "cf",
        "Plot",
        "Decode values by their CF attributes",
        True,
        "Scale, offset, missing values and times; the plot switches it for one array",
    ),
    Preference(
        "first_picture",
        "Plot",
        "Draw a variable of a document as soon as it is opened",
        True,
        "The variable of last time, or else the first data variable; nothing is read without permission",
    ),
    Preference(
        "prefetch",
        "Plot",
        "Read ahead the neighbours of the slice on the screen",
        True,
        "The next step of a slider then shows at once",
    ),
    Preference(
        "internal",
        "Attributes",
        "Show format attributes",
        False,
        "Attributes that a format uses internally: _nczarr_array, _ARRAY_DIMENSIONS",
    ),
    Preference(
        "connections",
        "Reading",
        "Most connections to one host",
        128,
        "The planner uses as many of them as help",
        low=1,
        high=128,
    ),
    Preference(
        "cache",
        "Reading",
        "Memory for decoded chunks",
        512,
        "Recent views are shown again without reading them",
        low=0,
        high=64_000,
        unit="MiB",
        scale=MIB,
    ),
    Preference(
        "lock_on_save",
        "Saving",
        "Write a lock when a document is saved",
        False,
        "Checks every file that it refers to, so that a replaced file is noticed later",
    ),
    Preference(
        "json_question",
        "Ask above these sizes",
        "A document",
        256,
        "Asks before larger ones are opened",
        low=1,
        high=2_048,
        unit="MiB",
        limit="json_question",
        scale=MIB,
    ),
    Preference(
        "view_chunks",
        "Ask above these sizes",
        "Chunks of one view",
        4_096,
        "A plot that needs more is sampled, or asked about",
        low=1,
        high=10_000_000,
        unit="chunks",
        limit="view_chunks",
    ),
    Preference(
        "view_decoded",
        "Ask above these sizes",
        "Decoded bytes of one view",
        2_048,
        "A plot that needs more is sampled, or asked about",
        low=1,
        high=1_000_000,
        unit="MiB",
        limit="view_decoded",
        scale=MIB,
    ),
    Preference(
        "write_out_question",
        "Ask above these sizes",
        "Entries written by an export",
        10_000_000,
        "Writing out the rows of huge gen rules is asked about",
        low=1,
        high=2_000_000_000,
        unit="entries",
        limit="write_out_question",
    ),
    Preference("compute", COMPUTE, "Exports run", HERE, "What is made of chunks, one by one", PLACES),
    Preference(
        "compute_processes",
        COMPUTE,
        "Processes",
        0,
        "Started for an export, and ended with it",
        high=1_024,
        lowest="One for each core",
    ),
    Preference(
        "compute_scheduler",
        COMPUTE,
        "Scheduler",
        "",
        "The address that the scheduler prints when it starts",
        typed="tcp://node1:8786",
    ),
    Preference(
        "compute_ca",
        COMPUTE,
        "TLS authority",
        "",
        "Certificate of the authority that signed those of scheduler and workers (PEM)",
        typed="",
    ),
    Preference("compute_cert", COMPUTE, "TLS certificate", "", "Your certificate (PEM)", typed=""),
    Preference("compute_key", COMPUTE, "TLS key", "", "Your key (PEM)", typed=""),
)
_BY_NAME = {preference.name: preference for preference in PREFERENCES}


class Preferences(QObject):
    """The preferences in force. A kept value that makes no sense counts as not set.

    Signals
    -------
    changed(str)
        The preference of this name has another value.
    """

    changed = Signal(str)

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    def value(self, name: str) -> Value:
        """Return the value of a preference."""
        preference = _BY_NAME[name]
        kept = self._settings.preference(name)
        return preference.default if kept is None else _sound(preference, kept)

    def text(self, name: str) -> str:
        """Return the value of a preference that is one of some choices."""
        return str(self.value(name))

    def number(self, name: str) -> int:
        """Return the value of a preference that is a number, in its unit."""
        return int(self.value(name))

    def is_on(self, name: str) -> bool:
        """Return the value of a preference that is a tick."""
        return bool(self.value(name))

    def is_default(self, name: str) -> bool:
        """Tell whether a preference has its default."""
        return self.value(name) == _BY_NAME[name].default

    @property
    def compute(self) -> ComputeChoice:
        """Where exports run."""
        texts = (self.text(f"compute_{name}") for name in ("scheduler", "ca", "cert", "key"))
        return ComputeChoice(self.text("compute"), self.number("compute_processes"), *texts)

    def set(self, name: str, value: Value) -> None:
        """Give a preference a value, and keep it; one that makes no sense becomes the nearest that does."""
        before = self.value(name)
        sound = _sound(_BY_NAME[name], str(value))
        self._settings.set_preference(name, None if sound == _BY_NAME[name].default else str(sound))
        if sound != before:
            self.changed.emit(name)

    def restore_defaults(self) -> None:
        """Give every preference its default."""
        for preference in PREFERENCES:
            self.set(preference.name, preference.default)


def _sound(preference: Preference, text: str) -> Value:
    """Return the value that a text stands for, within its bounds; the default where it stands for none."""
    read: Callable[[Preference, str], Value | None]
    if isinstance(preference.default, bool):
        read = _tick
    elif isinstance(preference.default, int):
        read = _number
    else:
        read = _choice
    value = read(preference, text)
    return preference.default if value is None else value


def _tick(_preference: Preference, text: str) -> bool | None:
    return {"True": True, "False": False}.get(text)


def _number(preference: Preference, text: str) -> int | None:
    if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 20):
        return None
    return min(max(int(text), preference.low), preference.high)


def _choice(preference: Preference, text: str) -> str | None:
    if not preference.choices:
        text, most = text.strip(), _TEXT_LIMIT if preference.typed is None else _PATH_LIMIT
        return text if text.isprintable() and len(text) < most else None
    return text if text in (value for value, _title in preference.choices) else None
