"""Codecs of the v3 drafts: URIs to the codecs that are known, and back (draft of 2019, `chunk_codecs`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from refbrowser.codecs.table import CODECS
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import CodecSpec

#: What the URIs that we write begin with.
BASE = "http://purl.org/zarr/spec/codec/"
_URI = re.compile(r"https?://purl\.org/zarr/spec/codecs?/([a-z0-9]+)(?:/[0-9]+(?:\.[0-9]+)*)?/?\Z")


def parse_codecs(value: Any) -> tuple[CodecSpec, ...]:
    """Return the codecs in encoding order; one that is not known keeps its URI as name.

    Raises
    ------
    RefbrowserError
        `E_META`: not a list of objects with a URI. `E_BUDGET`: more than the limit.
    """
    if not isinstance(value, list):
        raise RefbrowserError(ErrorKind.META, f"chunk_codecs is {quoted(value)}, not a list")
    if len(value) > LIMITS.filters:
        raise RefbrowserError(ErrorKind.BUDGET, f"{len(value)} codecs; at most {LIMITS.filters} are decoded")
    return tuple(map(parse_codec, value))


def parse_codec(item: Any) -> CodecSpec:
    """Return one codec; its options stand beside `codec` or in `configuration`.

    Raises
    ------
    RefbrowserError
        `E_META`: not an object with a URI.
    """
    if not isinstance(item, dict) or not isinstance(item.get("codec"), str):
        raise RefbrowserError(ErrorKind.META, f"a codec is {quoted(item)}, not an object with a URI")
    options = {name: value for name, value in item.items() if name not in ("codec", "configuration")}
    inner = item.get("configuration")
    if isinstance(inner, dict):
        options |= inner
    elif inner is not None:
        raise RefbrowserError(ErrorKind.META, f"the configuration of a codec is {quoted(inner)}")
    name = known_name(item["codec"])
    if name is None and ":" not in item["codec"]:
        raise RefbrowserError(ErrorKind.META, f"the codec {quoted(item['codec'])} is not a URI")
    if name is not None:
        # Some write the names of what has numbers.
        options = {each: CODECS[name].setting(each).in_v2(value) for each, value in options.items()}
    return CodecSpec(name or item["codec"], options)


def known_name(uri: str) -> str | None:
    """Return the name of a known codec from its URI (http or https, with or without a version)."""
    match = _URI.match(uri)
    return match[1] if match is not None and draft_options(match[1]) is not None else None


def draft_options(name: str) -> tuple[str, ...] | None:
    """Return the options that the draft has for a codec; None where it has no URI for it."""
    return CODECS[name].draft if name in CODECS else None


def is_known(spec: CodecSpec) -> bool:
    """Whether chunks of this codec can be decoded."""
    return draft_options(spec.name) is not None


def codecs_json(specs: Sequence[CodecSpec]) -> list[dict[str, Any]]:
    """Return `chunk_codecs` of the draft of 2019: options beside the URI.

    Raises
    ------
    RefbrowserError
        `E_META`: the draft has no URI for a codec.
    """
    return [_codec_json(spec) for spec in specs]


def _codec_json(spec: CodecSpec) -> dict[str, Any]:
    known = draft_options(spec.name)
    if known is None:
        raise RefbrowserError(ErrorKind.META, f"the v3 draft of 2019 has no codec {quoted(spec.name)}")
    told = {name: spec.configuration[name] for name in known if spec.configuration.get(name) is not None}
    return {"codec": BASE + spec.name, **told}
