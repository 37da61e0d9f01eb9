"""Colour tables in files of other programs: Adobe, GMT, ncview, NCL, and rows as matplotlib has them."""

from __future__ import annotations

import colorsys
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.loading import load

#: A file of colours is at most so large, in bytes, and has at most so many colours, or steps between colours.
FILE_MOST, COLOURS_MOST = 1 << 20, 4096
#: A table is kept as so many colours: as many as are drawn.
KEPT = 255
#: A title is cut to so many characters.
_TITLE_MOST = 60
#: The suffixes of files that are offered.
SUFFIXES = (".act", ".cpt", ".ncmap", ".rgb", ".pal", ".txt", ".csv", ".json", ".py")
_Colours = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ColourTable:
    """Colours from the least value to the greatest.

    Attributes
    ----------
    title
        What it is called.
    rgb
        Red, green and blue of `KEPT` colours, one byte each.
    """

    title: str
    rgb: bytes

    def __post_init__(self) -> None:
        if len(self.rgb) != 3 * KEPT:
            raise ValueError(f"a table has {KEPT} colours of 3 bytes, not {len(self.rgb)} bytes")

    @classmethod
    def of(cls, title: str, colours: _Colours, places: npt.NDArray[np.float64] | None = None) -> ColourTable:
        """Return a table of colours, shape (n, 3), from 0 to 1.

        Parameters
        ----------
        places
            Where each colour is, not falling; two at one place are a step. Evenly far apart when None: each
            colour has then as much room as any other, as in the tables that programs draw from.
        """
        if places is None:
            # Of few colours each is seen as it is: a stepped table stays one.
            at = np.arange(KEPT) * len(colours) // KEPT
            if len(colours) > KEPT:
                at = np.round(np.linspace(0, len(colours) - 1, KEPT)).astype(int)
            taken = colours[at]
        else:
            taken = _between(colours, places)
        return cls(title, np.rint(np.clip(taken, 0, 1) * 255).astype(np.uint8).tobytes())

    @property
    def colours(self) -> npt.NDArray[np.uint8]:
        """The colours, shape (`KEPT`, 3)."""
        return np.frombuffer(self.rgb, np.uint8).reshape(KEPT, 3)


def _between(colours: _Colours, places: npt.NDArray[np.float64]) -> _Colours:
    """Return `KEPT` colours at even distances, between the ones that are given."""
    low, high = places[0], places[-1]
    # In the middle of their parts: at a step none lies on both sides.
    sought = low + (np.arange(KEPT) + 0.5) / KEPT * (high - low)
    at = np.clip(np.searchsorted(places, sought, "right") - 1, 0, len(places) - 2)
    width = places[at + 1] - places[at]
    part = np.clip((sought - places[at]) / np.where(width > 0, width, 1), 0, 1)[:, None]
    return colours[at] * (1 - part) + colours[at + 1] * part


def read_table(name: str, content: bytes) -> ColourTable:
    """Return the colour table that a file holds.

    Parameters
    ----------
    name
        Of the file: its suffix tells the form, else the content does.

    Raises
    ------
    RefbrowserError
        It holds none, is too large, or is of a form that is not known.
    """
    if len(content) > FILE_MOST:
        raise RefbrowserError(
            ErrorKind.BUDGET, f"A file of colours has at most {FILE_MOST} bytes; this has {len(content)}"
        )
    path = PurePath(name)
    title = path.stem[:_TITLE_MOST].strip() or "Colours"
    if path.suffix.lower() == ".act":
        return ColourTable.of(title, _adobe(content))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _no_table("it is not text") from None
    if "\0" in text:
        raise _no_table("it is not text")
    if path.suffix.lower() == ".cpt":
        return ColourTable.of(title, *_gmt(text))
    return ColourTable.of(title, _rows(text))


def table_of_rows(title: str, rows: Sequence[Sequence[float]]) -> ColourTable:
    """Return the table of colours that another program gives, each three or four numbers from 0 to 1."""
    return ColourTable.of(title[:_TITLE_MOST], _checked(np.asarray(rows, np.float64)[:, :3]))


def tables_of_matplotlib() -> dict[str, ColourTable]:
    """Return the colour maps of matplotlib by name, without those that are others reversed.

    Raises
    ------
    NotInstalledError
        It is not installed.
    """
    colormaps = load("matplotlib:colormaps")
    names = sorted((name for name in colormaps if not name.endswith("_r")), key=str.lower)
    found = {}
    for name in names:
        of_name = colormaps[name]
        # One with few colours has steps.
        count = min(of_name.N, KEPT)
        rows = of_name(np.linspace(0, 1, count) if of_name.N > KEPT else np.arange(count))
        found[name] = table_of_rows(name, rows)
    return found


def _no_table(why: str) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.FORMAT,
        f"This is no colour table that refbrowser reads: {why}",
        advice="Tables of Adobe (.act), GMT (.cpt), ncview (.ncmap), NCL (.rgb), and rows of red, green and "
        "blue as text or JSON are read",
    )


def _checked(colours: _Colours) -> _Colours:
    """Return colours that are such, or say why they are none."""
    if not 2 <= len(colours) <= COLOURS_MOST:
        raise _no_table(f"it has {len(colours)} colours; there are 2 to {COLOURS_MOST} in one")
    if not np.isfinite(colours).all() or colours.min() < 0 or colours.max() > 1:
        raise _no_table("a colour is outside its range")
    return colours


def bytes_of(colour: int) -> tuple[int, int, int]:
    """Return red, green and blue of a colour that is written ``0xRRGGBB``."""
    red, green, blue = colour.to_bytes(3, "big")
    return red, green, blue


# Adobe


def _adobe(content: bytes) -> _Colours:
    """Return the colours of a table of Photoshop and Panoply: 256, and after them how many are used."""
    if len(content) not in (768, 772):
        raise _no_table(f"a table of Adobe has 768 or 772 bytes, this has {len(content)}")
    count = int.from_bytes(content[768:770], "big") if len(content) == 772 else 256
    if not 2 <= count <= 256:
        raise _no_table(f"it says that {count} of its 256 colours are used")
    return np.frombuffer(content[: 3 * count], np.uint8).reshape(count, 3) / 255.0


# GMT

_NAMED = {
    **{"white": 0xFFFFFF, "black": 0, "red": 0xFF0000, "green": 0x00FF00, "blue": 0x0000FF},
    **{"yellow": 0xFFFF00, "cyan": 0x00FFFF, "magenta": 0xFF00FF, "gray": 0xBEBEBE, "grey": 0xBEBEBE},
    **{"orange": 0xFFA500, "brown": 0xA52A2A, "purple": 0xA020F0, "pink": 0xFFC0CB, "darkblue": 0x00008B},
    **{"darkgreen": 0x006400, "darkred": 0x8B0000, "lightblue": 0xADD8E6, "lightgreen": 0x90EE90},
}
_HEX = re.compile(r"#([0-9A-Fa-f]{6})\Z")
_NUMBER = re.compile(r"[-+]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][-+]?\d{1,3})?\Z")
#: Lines for what lies below, above or nowhere.
_OUTSIDE = ("B", "F", "N")


def _gmt(text: str) -> tuple[_Colours, npt.NDArray[np.float64]]:
    """Return colours, and the values at which they are, of a table of GMT: a line for each step."""
    is_hsv = False
    places: list[float] = []
    colours: list[tuple[float, float, float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        model = re.search(r"COLOR_MODEL\s*=\s*\+?([A-Za-z]+)", line)
        if model is not None:
            is_hsv = model[1].upper() == "HSV"
            if model[1].upper() not in ("HSV", "RGB"):
                raise _no_table(f"colours of the model {quoted(model[1])} are not read")
        words = _without_label(line.split())
        if not words or words[0] in _OUTSIDE:
            continue
        if len(places) >= 2 * COLOURS_MOST:
            raise _no_table(f"it has more than {COLOURS_MOST} steps")
        # One number for a colour is a grey.
        low, first, rest = _stop(words, number, is_grey=len(words) == 4, is_hsv=is_hsv)
        high, second, rest = _stop(rest, number, is_grey=len(rest) == 2, is_hsv=is_hsv)
        if rest or (places and low < places[-1]) or high < low:
            raise _no_table(f"line {number} does not go on where the one before ends")
        places += [low, high]
        colours += [first, second]
    if not places:
        raise _no_table("no line of it holds two values with their colours")
    found = np.array(places)
    if not 0 < places[-1] - places[0] < float("inf"):
        raise _no_table("its values do not rise")
    return _checked(np.array(colours)), found


def _without_label(words: list[str]) -> list[str]:
    """Return the words of a line without comment and label, and without the ends that are to be labelled."""
    end = next((at for at, word in enumerate(words) if word[0] in ";#" and not _HEX.match(word)), len(words))
    words = words[:end]
    return words[:-1] if words and words[-1] in ("L", "U", "B") and len(words) > 1 else words


def _stop(
    words: list[str], line: int, *, is_grey: bool, is_hsv: bool
) -> tuple[float, tuple[float, float, float], list[str]]:
    """Return a value, its colour, and the words after them."""
    if len(words) < 2 or not _NUMBER.match(words[0]):
        raise _no_table(f"line {line} holds no value with a colour")
    value, colour = float(words[0]), words[1]
    named, code = _NAMED.get(colour.lower()), _HEX.match(colour)
    if named is not None or code is not None:
        bits = named if named is not None else int(colour[1:], 16)
        red, green, blue = bytes_of(bits)
        return value, (red / 255, green / 255, blue / 255), words[2:]
    parts = re.split(r"[/-]", colour) if re.search(r"\d[/-]", colour) else []
    taken = 2
    if not parts:
        taken = 2 if is_grey else 4
        parts = words[1:2] * 3 if is_grey else words[1:4]
    elif "-" in colour and "/" not in colour:
        is_hsv = True
    if len(parts) != 3 or not all(_NUMBER.match(part) for part in parts):
        raise _no_table(f"the colour {quoted(colour)} in line {line} is not known")
    one, two, three = (float(part) for part in parts)
    if is_hsv:
        if not (0 <= one <= 360 and 0 <= two <= 1 and 0 <= three <= 1):
            raise _no_table(f"the colour in line {line} is outside its range")
        return value, colorsys.hsv_to_rgb(one / 360, two, three), words[taken:]
    return value, (one / 255, two / 255, three / 255), words[taken:]


# Rows of three numbers


def _rows(text: str) -> _Colours:
    """Return the colours of a text: rows of red, green and blue, as lines, JSON or a list of Python."""
    bare = text.strip()
    begun = re.match(r"(?:[A-Za-z_][A-Za-z_0-9]{0,100}\s*=\s*)?(?=[\[({])", bare)
    rows = _listed(bare[begun.end() :]) if begun is not None else _lines(bare)
    if not rows:
        raise _no_table("no row of it holds red, green and blue")
    if len(rows) > COLOURS_MOST:
        raise _no_table(f"it has more than {COLOURS_MOST} colours")
    colours = np.array([row[:3] for row in rows])
    # Bytes, unless all are at most 1: a table of bytes with nothing above 1 would be black.
    return _checked(colours if colours.max() <= 1 else colours / 255.0)


def _listed(text: str) -> list[list[float]]:
    """Return the rows of JSON or of a list of Python, whose tuples and last commas JSON has not."""
    as_json = re.sub(r",\s*([\]])", r"\1", text.replace("(", "[").replace(")", "]"))
    try:
        value = json.loads(as_json, parse_int=_number, parse_float=_number)
    except (ValueError, RecursionError):
        raise _no_table("its list cannot be read") from None
    if isinstance(value, dict):
        value = next((part for part in map(value.get, ("colors", "colours", "rgb")) if part), None)
    if not isinstance(value, list) or len(value) > COLOURS_MOST:
        raise _no_table(f"it is no list of at most {COLOURS_MOST} colours")
    return [_row(part) for part in value]


def _row(part: Any) -> list[float]:
    code = _HEX.match(part) if isinstance(part, str) else None
    if code is not None:
        return [float(int(code[1][at : at + 2], 16)) for at in (0, 2, 4)]
    is_row = isinstance(part, list) and len(part) in (3, 4)
    if not is_row or not all(type(number) is float for number in part):
        raise _no_table("a member of its list is no row of red, green and blue")
    return list(part)


def _number(text: str) -> float:
    return float(text) if len(text) <= 100 else float("inf")


def _lines(text: str) -> list[list[float]]:
    """Return the rows of lines; what stands before the first of them, and comments, are passed over."""
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = _cells(line)
        if words[:1] and all(_NUMBER.match(word) for word in words) and len(words) in (3, 4):
            rows.append([float(word) for word in words])
        elif words[:1] and (code := _HEX.match(words[0])) and len(words) == 1:
            rows.append([float(int(code[1][at : at + 2], 16)) for at in (0, 2, 4)])
        elif rows and words and not line.lstrip().startswith(("#", ";", "!")):
            raise _no_table(f"line {number} is no row of red, green and blue")
        if len(rows) > COLOURS_MOST:
            break
    return rows


def _cells(line: str) -> list[str]:
    """Return the cells of a line, without a comment behind them."""
    bare = line.strip()
    if not _HEX.match(bare):
        bare = re.split(r"[#;!]", bare, maxsplit=1)[0]
    return re.split(r"[\s,]+", bare.strip(" \t,")) if bare.strip(" \t,") else []
