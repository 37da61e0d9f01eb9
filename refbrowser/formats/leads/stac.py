"""STAC items, collections and catalogs: the assets that they list, and further ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.lead import Lead, NamedSource
from refbrowser.formats.leads.places import Places
from refbrowser.formats.registry import REFERENCES, data_suffixes, openable

#: What can be opened, by words of its media type; else by what its name ends with.
_STORES, _DATA = ("zarr",), ("netcdf", "hdf", "grib", "tiff", "fits")
_REFERENCES = ("kerchunk", "reference", "virtual")
#: Roles of what is no data.
_BESIDE = ("thumbnail", "overview", "metadata")
#: Links that lead on, and what is there.
_LINKS = {"item": "STAC item", "items": "STAC items", "child": "STAC catalog"}


def lead_of_stac(data: bytes, place: str) -> Lead:
    """Return the assets of an item, a collection or several items, and the items and catalogs that follow.

    Raises
    ------
    RefbrowserError
        It is no JSON, or lists too many.
    """
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        raise RefbrowserError(ErrorKind.JSON, "it is no JSON") from None
    places = Places(place)
    found = [each for part in _parts(said) for each in _named_in(part, places)]
    urls = {each.url: each for each in reversed(found)}
    kept = tuple(each for each in found if urls[each.url] is each)
    return Lead(sources=kept, unsaid=tuple(places.told()))


def _parts(said: Any) -> Iterator[dict[str, Any]]:
    """Yield an item or collection, and the items in it."""
    if isinstance(said, dict):
        yield said
        yield from (each for each in _list(said.get("features")) if isinstance(each, dict))


def _named_in(part: dict[str, Any], places: Places) -> Iterator[NamedSource]:
    assets = part.get("assets")
    for key, asset in assets.items() if isinstance(assets, dict) else ():
        if not isinstance(asset, dict):
            continue
        alternate = asset.get("alternate")
        others = alternate.values() if isinstance(alternate, dict) else ()
        for each in (asset, *(other for other in others if isinstance(other, dict))):
            url = _url(each, places)
            if url is not None:
                kind = _text(each.get("type")) or _text(asset.get("type"))
                yield NamedSource(url, _text(key), kind, _rank(key, url, kind, _list(asset.get("roles"))))
    for link in _list(part.get("links")):
        if isinstance(link, dict) and (linked := _LINKS.get(_text(link.get("rel")))) is not None:
            url = _url(link, places)
            if url is not None:
                # What it lists is shown in turn: that comes last.
                yield NamedSource(url, _text(link.get("title")), linked, 1)


def _url(said: dict[str, Any], places: Places) -> str | None:
    href = _text(said.get("href"))
    return places.of(href) if href else None


def _rank(key: str, url: str, kind: str, roles: list[Any]) -> int:
    """Return how well an asset can be opened."""
    plain, ends = kind.lower(), url.partition("?")[0].lower()
    words = (key.lower(), *(each.lower() for each in roles if isinstance(each, str)))
    if any(word in _BESIDE for word in words):
        return 0
    if any(each in plain for each in _STORES) or ends.endswith(_store_suffixes()):
        return 4
    is_named = any(each in word for each in _REFERENCES for word in (*words, plain, ends.rpartition("/")[2]))
    if is_named and (ends.endswith(REFERENCES.suffixes) or "json" in plain or "parquet" in plain):
        return 3
    return 2 if any(each in plain for each in _DATA) or ends.endswith(data_suffixes()) else 0


def _store_suffixes() -> tuple[str, ...]:
    """Return what the names of stores and descriptions end with."""
    others = (each for each in openable() if not each.is_data and each is not REFERENCES)
    return tuple(suffix for each in others for suffix in each.suffixes if suffix != "/")


def _text(said: Any) -> str:
    return said if isinstance(said, str) else ""


def _list(said: Any) -> list[Any]:
    return said if isinstance(said, list) else []
