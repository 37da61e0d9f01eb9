"""Lines of Python that open the same document and select the same slice, here, with zarr or xarray."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from refbrowser.errors import RefbrowserError
from refbrowser.formats.registry import form_named
from refbrowser.model.cf import Packing, TimeUnits
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.slicing import SliceState, dimension_names
from refbrowser.views.plot.snippet_store import SnippetSource, can_hide, dataset_lines, literal, store_lines

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken


#: Times of at most so many are read to see whether they are dates.
TIMES_READ = 65_536


@dataclass(frozen=True, slots=True)
class SnippetView:
    """What is on the screen.

    Attributes
    ----------
    ranges
        Indices along the axes of the slice, in their order.
    decoded
        The conventions of CF are applied.
    never_written
        Values that netCDF fills new variables with are among those that are shown.
    plain_times
        Times beside the array are no dates that xarray could make.
    missing
        Chunks that are not there are among those that are shown.
    over
        A dimension that is taken whole besides the axes; None for none.
    """

    node: ArrayNode
    slice: SliceState
    ranges: tuple[range, ...]
    decoded: bool
    never_written: bool = False
    plain_times: bool = False
    missing: bool = False
    over: int | None = None

    @property
    def packing(self) -> Packing:
        """How stored values stand for those that are shown."""
        packing = Interpretation(self.node, self.decoded).packing
        if self.never_written or packing.default_fill is None:
            return packing
        missing = tuple(value for value in packing.missing if value != packing.default_fill)
        return replace(packing, missing=missing, default_fill=None)

    @property
    def index(self) -> str:
        """The slice as it is written between brackets; ``...`` for a scalar."""
        parts = [
            str(item) if isinstance(item, int) and axis != self.over else _slice_text(item, size)
            for axis, (item, size) in enumerate(
                zip(self.slice.index(self.ranges), self.slice.shape, strict=True)
            )
        ]
        return ", ".join(parts) or "..."

    @property
    def is_turned(self) -> bool:
        """Whether rows, columns and bands of the view are in another order than in the array."""
        return self.over is None and self.slice.order != tuple(range(len(self.slice.order)))


@dataclass(slots=True)
class _Code:
    """Modules that lines need, and the lines."""

    modules: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return imports and lines: the standard library first."""
        standard = sorted(
            module for module in self.modules if module in ("import os", "from urllib.parse import urljoin")
        )
        others = sorted(self.modules - set(standard), key=lambda line: line.split()[1])
        blocks = ["\n".join(block) for block in (standard, others) if block]
        return "\n\n".join([*blocks, "\n".join(self.lines)]) + "\n"


def _is_read_by_zarr(node: ArrayNode) -> bool:
    return "zarr-python" in form_named(node.format).readers


def zarr_snippet(source: SnippetSource, view: SnippetView) -> str:
    """Return lines that leave the values of a view in ``values``, read by zarr-python where it can."""
    return _zarr_code(source, view).text()


def _zarr_code(source: SnippetSource, view: SnippetView) -> _Code:
    code = _Code()
    if not _is_read_by_zarr(view.node):
        code.lines += ["# zarr-python reads no draft of v3.", *dataset_lines(source, code.modules)]
        code.lines.append(f"array = dataset[{literal(view.node.path)}]")
    else:
        code.modules.add("import zarr")
        code.lines += store_lines(source, code.modules)
        path = view.node.path.strip("/")
        form = ", zarr_format=2" if source.is_folder else ""
        code.lines.append(f'array = zarr.open_array(store, path={literal(path)}, mode="r"{form})')
    order = view.slice.order
    turned = "" if not view.is_turned else ".T" if len(order) == 2 else f".transpose{order}"
    shown = Interpretation(view.node, view.decoded)
    code.lines += ["# Missing chunks read as the fill value."] * view.missing
    if _is_coded(view.packing, view.node):
        code.lines.append(f"stored = array[{view.index}]{turned}")
        code.lines += _decoding_lines(view, code.modules)
    else:
        code.lines.append(f"values = array[{view.index}]{turned}")
    if shown.dates is not None and view.node.dtype is not None and view.node.dtype.kind in "iuf":
        units = shown.dates.units
        code.modules.add("import cftime")
        code.lines.append(
            f"dates = cftime.num2date(values, {literal(str(units))}, calendar={literal(units.calendar)})"
        )
    return code


def xarray_snippet(source: SnippetSource, hierarchy: Hierarchy, view: SnippetView) -> str:
    """Return lines that leave the values of a view, with their coordinates, in ``values``, read by xarray."""
    node = view.node
    names = dimension_names(node)
    if None in node.dimensions or len(node.dimensions) != len(node.shape) or len(set(names)) < len(names):
        return _by_zarr(source, view, "The document gives the dimensions no names")
    if not _is_read_by_zarr(node):
        return _by_zarr(source, view, "It is a draft of v3")
    path, _slash, name = node.path.strip("/").rpartition("/")
    group = hierarchy.find(path)
    unreadable, dropped = _unfit(group, node) if isinstance(group, GroupNode) else ([], [])
    if unreadable and not can_hide(source):
        return _by_zarr(source, view, f"Beside the array is {unreadable[0]}, which xarray cannot read")
    code = _Code({"import xarray as xr"})
    code.lines += store_lines(source, code.modules, path, unreadable)
    own = view.decoded and _xarray_decodes_otherwise(view)
    options = _decoding_options(view, name, own)
    if source.is_opened_whole and path:
        options.append(f"group={literal(path)}")
    if source.is_folder:
        # fsspec fails when it is asked for metadata of the other version.
        options.append("zarr_format=2")
    if dropped:
        options.append(f"drop_variables={literal(dropped)}")
    if len(options) > 1:
        code.lines += [
            "dataset = xr.open_dataset(",
            "    store,",
            '    engine="zarr",',
            "    consolidated=False,",
            *(f"    {option}," for option in options),
            ")",
        ]
    else:
        rest = "".join(f", {option}" for option in options)
        code.lines.append(f'dataset = xr.open_dataset(store, engine="zarr", consolidated=False{rest})')
    axes = [names[axis] for axis in view.slice.shown]
    turned = f".transpose({', '.join(map(literal, axes))})" if view.is_turned else ""
    target = "stored" if own else "values"
    code.lines += ["# Missing chunks read as the fill value."] * view.missing
    code.lines.append(f"{target} = dataset[{literal(name)}][{view.index}]{turned}")
    if own:
        code.lines += _decoding_lines(view, code.modules, where="xr.where")
    return code.text()


def _by_zarr(source: SnippetSource, view: SnippetView, reason: str) -> str:
    """Return lines for an array that xarray cannot open: zarr reads it, and its dimensions get names."""
    code = _zarr_code(source, view)
    code.modules.add("import xarray as xr")
    axes = tuple(view.slice.names[axis] for axis in view.slice.shown)
    code.lines += [
        f"# {_one_line(reason)}: xarray cannot open the group.",
        f"values = xr.DataArray(values, dims={literal(axes)}, name={literal(view.node.name or None)})",
    ]
    return code.text()


def _one_line(text: str) -> str:
    """Return a text as it can stand in a comment: names come from documents."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _slice_text(item: slice | int, size: int) -> str:
    if isinstance(item, int):
        return ":"
    start = "" if item.start in (0, None) else str(item.start)
    step = "" if item.step in (1, None) else f":{item.step}"
    whole = range(item.start or 0, size, item.step or 1)
    stop = "" if len(range(*item.indices(size))) == len(whole) else str(item.stop)
    return f"{start}:{stop}{step}"


# The conventions of CF


def _is_coded(packing: Packing, node: ArrayNode) -> bool:
    """Whether stored values stand for others."""
    bounds = packing.valid_min is not None or packing.valid_max is not None
    other_sign = node.dtype is not None and packing.stored.kind != node.dtype.kind
    return bool(packing.missing) or packing.is_scaled or bounds or other_sign


def _decoding_lines(view: SnippetView, modules: set[str], where: str = "np.where") -> list[str]:
    """Return lines from ``stored`` to ``values``: the same that the window does."""
    packing, dtype = view.packing, view.node.known_dtype
    lines = []
    if packing.stored.kind != dtype.kind:
        kind, other = dtype.kind, packing.stored.kind
        lines.append(f'stored = stored.astype(stored.dtype.str.replace("{kind}", "{other}"))')
    tests = [f"(stored == {_number(value)})" for value in packing.missing]
    physical = "stored"
    if packing.is_scaled:
        physical = 'stored.astype("f8")'
        physical += f" * {_number(packing.scale)}" if packing.scale != 1.0 else ""
        physical += f" + {_number(packing.offset)}" if packing.offset != 0.0 else ""
    bounded = "values" if packing.bounds_are_physical else "stored"
    bounds = [
        f"({bounded} {sign} {_number(bound)})"
        for sign, bound in (("<", packing.valid_min), (">", packing.valid_max))
        if bound is not None
    ]
    if not tests and not bounds:
        return [*lines, f"values = {physical}"]
    lines.append(f"values = {physical}")
    modules.add("import numpy as np")
    missing = " | ".join(tests + bounds)
    missing = missing if len(tests + bounds) > 1 else missing[1:-1]
    lines.append(f"values = {where}({missing}, np.nan, values)")
    return lines


def _number(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float) and not math.isfinite(plain):
        return f'float("{plain}")'
    return repr(plain)


def _xarray_decodes_otherwise(view: SnippetView) -> bool:
    """Whether the window hides other values than xarray, which knows no bounds and no default fill."""
    packing = view.packing
    bounds = packing.valid_min is not None or packing.valid_max is not None
    return bounds or bool(packing.ignored) or packing.default_fill is not None


def _decoding_options(view: SnippetView, name: str, own: bool) -> list[str]:
    if not view.decoded:
        return ["decode_cf=False"]
    options = [f"mask_and_scale={{{literal(name)}: False}}"] if own else []
    if view.plain_times:
        options.append("decode_times=False")
    return options


def has_plain_times(
    session: Session, access: Access, hierarchy: Hierarchy, node: ArrayNode, cancel: CancelToken | None = None
) -> bool:
    """Whether xarray would refuse to open the group of an array for its times: it decodes them all.

    Times that are not too many are read for that; those that cannot be read are left aside.
    """
    group = hierarchy.find(node.path.strip("/").rpartition("/")[0])
    arrays = group.arrays.values() if isinstance(group, GroupNode) else ()
    return any(_are_plain(session, access, array, cancel) for array in arrays)


def _are_plain(session: Session, access: Access, node: ArrayNode, cancel: CancelToken | None) -> bool:
    units = TimeUnits.from_attributes(node.attributes)
    if units is None or node.dtype is None or node.dtype.kind not in "iuf":
        return False
    if units.unit in ("months", "years") and units.calendar != "360_day":
        return True
    if math.prod(node.shape) > TIMES_READ:
        return False
    try:
        stored = session.read(node, access, Selection.whole(node.shape), cancel=cancel)
    except RefbrowserError:
        return False
    packing = Packing.of(node)
    kept = tuple(value for value in packing.missing if value != packing.default_fill)
    try:
        units.dates(replace(packing, missing=kept).decode(stored))
    except RefbrowserError:
        return True
    return False


def _unfit(group: GroupNode, node: ArrayNode) -> tuple[list[str], list[str]]:
    """Return the arrays beside `node` that xarray cannot read, and those that do not fit beside it.

    The first have no names of their dimensions, or faults; the second have dimensions of other sizes.
    """
    sizes: dict[str | None, int] = dict(zip(node.dimensions, node.shape, strict=True))
    unreadable, unfit = [], []
    for name, array in group.arrays.items():
        names: Sequence[str | None] = array.dimensions
        is_named = len(names) == len(array.shape) and None not in names and len(set(names)) == len(names)
        if array.error is not None or array.unreadable is not None or not is_named:
            unreadable.append(name)
        elif all(sizes.get(key, size) == size for key, size in zip(names, array.shape, strict=True)):
            sizes.update(zip(names, array.shape, strict=True))
        else:
            unfit.append(name)
    return unreadable, unfit


def file_snippet(
    path: str,
    view: SnippetView,
    opening: Callable[[str, str, Sequence[str]], str],
    *,
    is_edited: bool,
) -> str:
    """Return lines that leave the values of a view of a file in ``values``, read by xarray.

    Parameters
    ----------
    opening
        Returns the call that opens a group of the file, of path, group and options.
    is_edited
        There are edits that the file does not have.
    """
    group, _slash, name = view.node.path.strip("/").rpartition("/")
    own = view.decoded and _xarray_decodes_otherwise(view)
    code = _Code({"import xarray as xr"})
    code.lines += ["# Edits that are not saved are not in what they read."] * is_edited
    code.lines.append(f"dataset = {opening(path, group, _decoding_options(view, name, own))}")
    axes = [view.slice.names[axis] for axis in view.slice.shown]
    turned = f".transpose({', '.join(map(literal, axes))})" if view.is_turned else ""
    code.lines.append(f"{'stored' if own else 'values'} = dataset[{literal(name)}][{view.index}]{turned}")
    if own:
        code.lines += _decoding_lines(view, code.modules, where="xr.where")
    return code.text()


def own_snippet(path: str, name: str, view: SnippetView, *, is_edited: bool) -> str:
    """Return lines that read the slice with this program, of a format that others do not read.

    Parameters
    ----------
    name
        What the format is called.
    is_edited
        There are edits that the file does not have.
    """
    lines = [f"# {name} is read by refbrowser, which must be installed where these lines run."]
    if is_edited:
        lines.append("# Edits that are not saved are not in what they read.")
    lines += [
        "import refbrowser",
        "",
        f"dataset = refbrowser.open({path!r})",
        f"values = dataset[{view.node.path!r}][{view.index or '...'}]",
    ]
    return "\n".join(lines) + "\n"
