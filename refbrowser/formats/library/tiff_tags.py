"""Tags of TIFF as attributes, in the process of `worker`: it imports nothing of ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np

#: Tags that say where and how elements are stored.
_LAYOUT = {
    *range(255, 260), 266, 273, 277, 278, 279, 284, 288, 289, 317, 322, 323, 324, 325, 330, 339,
    347, 512, 513, 514, 519, 520, 521, 530, 531, 532, 32997, 32998, 33432, 34377, 34665, 34675,
}  # fmt: skip
#: Tags that are told in other words: those of GeoTIFF and GDAL.
_TOLD = {33550, 33920, 33922, 34264, 34735, 34736, 34737, 42112, 42113}
_RATIONAL = (5, 10)


def attributes_of(image: Any, most: int, is_first: bool) -> Iterator[tuple[str, Any, str]]:
    """Yield names of attributes, their values, and why there is none.

    Parameters
    ----------
    image
        `tiff_reader` has it.
    most
        Letters of a value.
    is_first
        Whether it is in full size.
    """
    key = image.key
    told = set()
    for tag in key.tags:
        if tag.code in _LAYOUT or tag.code in _TOLD:
            continue
        try:
            value = _plain(tag)
        except Exception as error:  # noqa: BLE001 - one tag alone
            yield tag.name, None, f"{type(error).__name__}: {error}"[:200]
            continue
        if value is None:
            continue
        if tag.name in told or len(str(value)) > most:
            yield tag.name, None, "it is too large" if tag.name not in told else "it occurs twice"
            continue
        told.add(tag.name)
        yield tag.name, value, ""
    name = getattr(image.series, "name", "")
    if is_first and name and getattr(image.series, "kind", "") == "ome":
        yield "long_name", name, ""
    for name, value in (_gdal(image) if is_first else {}).items():
        if name not in told:
            yield name, value, ""


def _gdal(image: Any) -> dict[str, Any]:
    """Return what GDAL says of the file and its bands."""
    found: dict[str, Any] = {}
    text = image.key.tags.valueof(42112)
    if not isinstance(text, str):
        return found
    from xml.etree import ElementTree

    try:
        items = ElementTree.fromstring(text).findall("Item")
    except ElementTree.ParseError:
        return {"GDAL_METADATA": text}
    for item in items:
        band = item.get("sample")
        where = "" if band is None else f"band_{band}_"
        domain = item.get("domain")
        name = f"{where}{f'{domain}_' if domain else ''}{item.get('name', 'item')}"
        found.setdefault(name, item.text or "")
    return found | _scaled(image, items)


def _scaled(image: Any, items: Any) -> dict[str, Any]:
    """Return how numbers are meant, in the words of CF, where that is the same of all bands."""
    found: dict[str, Any] = {}
    if len(image.pages) > 1:
        return found
    for role, name in (("scale", "scale_factor"), ("offset", "add_offset"), ("unittype", "units")):
        said = [item.text or "" for item in items if item.get("role") == role]
        if len(said) == image.key.samplesperpixel and len(set(said)) == 1:
            with contextlib.suppress(ValueError):
                found[name] = said[0] if role == "unittype" else float(said[0])
    return found


def geo_of(image: Any, most: int) -> dict[str, Any]:
    """Return what GeoTIFF says of where an image lies."""
    try:
        found = image.key.geotiff_tags or {}
    except Exception:  # noqa: BLE001 - of foreign tags
        return {}
    return {
        str(name): plain
        for name, value in found.items()
        if not isinstance(value, dict) and (plain := _value(value)) is not None and len(str(plain)) <= most
    }


def _plain(tag: Any) -> Any:
    """Return the value of a tag as an attribute; None of what is none."""
    value = tag.value
    if int(tag.dtype) in _RATIONAL and isinstance(value, tuple):
        found = [top / bottom if bottom else 0.0 for top, bottom in zip(value[::2], value[1::2], strict=True)]
        return found[0] if len(found) == 1 else found
    return _value(value)


def nodata_of(said: Any, dtype: Any) -> tuple[int | float | None, int | float]:
    """Return what GDAL says that missing elements hold, and what those hold that are not stored."""
    try:
        text = str(said).strip()
        number = int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return None, 0
    if dtype.kind in "fc":
        return (float(number) if dtype.kind == "f" else None), float(number)
    if dtype.kind not in "iu" or number != number:
        return None, 0
    info = np.iinfo(dtype)
    # As GDAL does of what cannot be held.
    missing = int(min(max(number, info.min), info.max))
    return (missing if missing == number else None), missing


def _value(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        try:
            return value.rstrip(b"\0").decode("ascii") or None
        except UnicodeDecodeError:
            return None
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        found = [_value(each) for each in value]
        if any(isinstance(each, list) for each in found):
            found = [part for each in found for part in (each if isinstance(each, list) else [each])]
        numbers = all(isinstance(each, int | float) for each in found)
        return found if found and (numbers or all(isinstance(each, str) for each in found)) else None
    return value if isinstance(value, str | int | float) and value != "" else None


class Below:
    """Where the pages below a page lie, each once: the library would read as many as are named.

    Stands in the place of what the library sets for each page.
    """

    def __init__(self, problems: list[str]) -> None:
        self._problems = problems

    def __get__(self, page: Any, kind: type) -> Any:
        return None if page is None else vars(page).get("_below")

    def __set__(self, page: Any, named: Any) -> None:
        vars(page)["_below"] = once = tuple(dict.fromkeys(named)) if isinstance(named, tuple) else named
        said = "a page names a page below it more than once: it is shown once"
        if once != named and said not in self._problems:
            self._problems.append(said)
