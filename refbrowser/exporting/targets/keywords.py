"""Options of exports as keywords of a function: those of all formats of ours, each with its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.option_fields import ExportOptions, chosen_options, group_of
from refbrowser.formats.option_fields import Kind, Option, declared
from refbrowser.formats.registry import form_named

#: A shape of chunks, or the edges of unequal ones; or as the command line has it: ``100,100``, ``auto:8MiB``.
SidesSaid = str | Sequence[int | Sequence[int | Sequence[int]]]


class ExportKeywords(TypedDict, total=False):
    """The fields of all groups of options (`refbrowser.exporting.option_fields.groups`), by name."""

    # References
    inline: int
    relative: bool
    absolute: bool
    url_template: str
    template_share: int | None
    # Stores; other formats have some of these too
    chunks: SidesSaid
    array_chunks: Mapping[str, SidesSaid]
    codec: str | Sequence[str]
    shards: SidesSaid
    packing: Literal["keep", "codecs", "attributes"]
    container: Literal["folder", "zip", "hdf5"]
    zip_folder: str
    array_dimensions: bool
    split_compounds: bool
    text_size: int
    # Commits
    branch: str
    message: str
    # Streams
    profile: str
    tile_size: int | str
    checksum: bool
    # Arrays of Awkward 0
    name: str
    delimiter: str
    suffix: str
    schema_suffix: str
    append: bool
    replace: bool
    removed: Sequence[str]
    # netCDF-4
    fletcher32: bool
    # Tables
    group_size: int | str
    awkward_types: bool


def options_said(format: str, said: Mapping[str, Any], target: str) -> ExportOptions | None:
    """Return the options that keywords say for a format.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the format has no such option, or it has no meaning with the others.
    """
    form = form_named(format)
    group = group_of(form)
    known = {} if group is None else declared(group)
    for name in said:
        if name not in known:
            message = f"{quoted(name)} is not an option of {format}"
            advice = f"it has {', '.join(known)}" if known else "it has none"
            raise RefbrowserError(ErrorKind.USAGE, message, advice=advice)
    spelled = {name: _spelled(known[name], value) for name, value in said.items() if value is not None}
    return chosen_options(form, spelled, target)


def _spelled(option: Option, value: Any) -> Any:
    """Return a value as the command line would have it, where a function has another form for it."""
    if option.kind is Kind.SIDES:
        return _sides(value)
    if option.kind is Kind.ARRAYS and isinstance(value, Mapping):
        return tuple(f"{path}={_sides(sides)}" for path, sides in value.items())
    if option.kind is Kind.TEXTS and isinstance(value, str):
        return (value,)
    return value


def _sides(value: Any) -> str:
    return value if isinstance(value, str) else ",".join(map(_side, value))


def _side(value: Any) -> str:
    return f"[{','.join(map(_side, value))}]" if isinstance(value, Sequence) else str(value)
