"""The engine ``refbrowser`` of xarray: ``xarray.open_dataset(path, engine="refbrowser")``.

xarray finds it by its entry point; nothing else imports it. Values are read through the session of a dataset:
its planner, its cache, its rules of trust. What cannot be read raises, and is never a fill value.
"""

from __future__ import annotations

import hashlib
import os
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import xarray
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint, StoreBackendEntrypoint
from xarray.coding.strings import create_vlen_dtype
from xarray.core.indexing import BasicIndexer, ExplicitIndexer, LazilyIndexedArray, VectorizedIndexer

from refbrowser.api import StorageOptions
from refbrowser.api import open as open_named
from refbrowser.codecs.table import CODECS
from refbrowser.engine.dataset import Dataset, damage_of
from refbrowser.engine.frozen_dataset import frozen_bytes, opened_again, other_source
from refbrowser.engine.scattered_reads import read_outer, read_points
from refbrowser.errors import ErrorKind, MissingFileError, Place, RefbrowserError, quoted
from refbrowser.findings.finding import damage_text
from refbrowser.formats.format import Score, Seen
from refbrowser.formats.library.process import one_after_another
from refbrowser.formats.registry import BUILT_IN
from refbrowser.formats.sniffing import DOCUMENTS, looks_like_references
from refbrowser.model.data_type import RowType, SequenceType, enum_name_of, names_of, rows_of, without_names
from refbrowser.model.flavour import Flavour
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE, HIDDEN, HIDDEN_PREFIXES, typed_attribute
from refbrowser.model.netcdf.dataset import netcdf_view
from refbrowser.model.netcdf.fill import fill_attribute
from refbrowser.model.netcdf.names import split
from refbrowser.model.netcdf.types import ATOMIC_BY_NAME, NetcdfGroup, NetcdfVariable
from refbrowser.model.nodes import ArrayNode

#: Its records are no chunks: whoever asks for those of the file wants all records together.
_CLASSIC = "netcdf3"
#: Bytes of an array that is read once: where it has one chunk, or a library tells it when it is opened.
_SMALL = 1 << 16
#: Datasets that came from another process and stay open in this one; one more closes the oldest.
_KEPT = 8


class SharedDataset:
    """A dataset that the variables of xarray read, and that other processes open again.

    Parameters
    ----------
    dataset
        What was opened.
    owned
        Whether closing closes it.
    """

    def __init__(self, dataset: Dataset, *, owned: bool = True) -> None:
        self._dataset: Dataset | None = dataset
        self._owned = owned
        if owned:
            # Nobody closes those that other processes sent; their threads end with the last variable.
            weakref.finalize(self, dataset.close)
        self._lock = threading.Lock()
        self._readers = 0
        self._closing: Dataset | None = None
        self.name = dataset.path
        #: Those that were told when it was opened; a dataset of others may have been edited since.
        self.values: Mapping[str, np.ndarray[Any, Any]] = dataset.document.known_values if owned else {}

    @contextmanager
    def reading(self) -> Iterator[Dataset]:
        """Give the dataset; it is not closed while anybody reads.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it was closed.
        """
        with self._lock:
            dataset = self._dataset
            if dataset is None:
                raise RefbrowserError(
                    ErrorKind.USAGE, "the dataset was closed", Place(document=self.name), "open it again"
                )
            self._readers += 1
        try:
            yield dataset
        finally:
            self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._readers -= 1
            idle = None if self._readers or self._closing is None else self._closing
            if idle is not None:
                self._closing = None
        if idle is not None:
            idle.close()

    def close(self) -> None:
        """Let nobody read any more; the dataset is closed once those who read have ended."""
        with self._lock:
            dataset, self._dataset = self._dataset, None
            if dataset is None or not self._owned:
                return
            if self._readers:
                self._closing = dataset
                return
        dataset.close()

    def __reduce__(self) -> tuple[Callable[[bytes], SharedDataset], tuple[bytes]]:
        with self.reading() as dataset:
            return _reopened, (frozen_bytes(dataset),)


_lock = threading.Lock()
_opened: OrderedDict[str, SharedDataset] = OrderedDict()


def _reopened(data: bytes) -> SharedDataset:
    """Return a dataset that another process has opened, as it is open here; all its variables share it."""
    digest = hashlib.sha256(data).hexdigest()
    with _lock:
        found = _opened.get(digest)
        if found is None or found._dataset is None:
            found = _opened[digest] = SharedDataset(opened_again(data))
        _opened.move_to_end(digest)
        # What is dropped here closes when the last variable is gone.
        while len(_opened) > _KEPT:
            _opened.popitem(last=False)
        return found


class RefbrowserArray(BackendArray):
    """The values of one array, read when they are indexed; of a small one of one chunk all, once.

    Parameters
    ----------
    whole
        Its values where all are known: xarray asks for those of a coordinate several times.
    """

    __slots__ = ("dtype", "path", "shape", "source", "whole")

    def __init__(
        self, source: SharedDataset, node: ArrayNode, whole: np.ndarray[Any, Any] | None = None
    ) -> None:
        self.source = source
        self.path = node.path
        self.shape = node.shape
        self.dtype = _plain_type(node)
        self.whole = whole

    def __getstate__(self) -> tuple[SharedDataset, str, tuple[int, ...], np.dtype[Any]]:
        return self.source, self.path, self.shape, self.dtype

    def __setstate__(self, state: tuple[SharedDataset, str, tuple[int, ...], np.dtype[Any]]) -> None:
        self.source, self.path, self.shape, self.dtype = state
        self.whole = None

    def __getitem__(self, key: ExplicitIndexer) -> Any:
        """Return the selected values.

        Raises
        ------
        RefbrowserError
            A chunk cannot be read: it names chunk, URL, range and cause.
        """
        read = read_points if isinstance(key, VectorizedIndexer) else read_outer
        is_box = isinstance(key, BasicIndexer)
        with self.source.reading() as dataset:
            if is_box and self.whole is not None:
                return np.array(self.whole[key.tuple])
            node = dataset.hierarchy.find(self.path)
            if not isinstance(node, ArrayNode) or (node.shape, _plain_type(node)) != (self.shape, self.dtype):
                raise other_source(dataset.path)
            is_kept = is_box and self._is_small and node.has_grid and node.grid.size == 1
            index = (slice(None),) * len(self.shape) if is_kept else key.tuple
            values = without_names(read(dataset.session, node, dataset.access, index))
        plain = values if self.dtype.names is None else values.astype(self.dtype, copy=False)
        if not is_kept:
            return plain
        self.whole = plain
        return np.array(plain[key.tuple])

    @property
    def _is_small(self) -> bool:
        return self.dtype.kind in "biufSU" and prod(self.shape) * self.dtype.itemsize <= _SMALL


class RefbrowserDataStore(AbstractDataStore):
    """One group of a dataset, as xarray's decoding wants it.

    Parameters
    ----------
    view
        The group.
    fill_as_mask
        Whether the fill values of Zarr are missing values; None: those of version 2 are.
    """

    def __init__(self, source: SharedDataset, view: NetcdfGroup, fill_as_mask: bool | None = None) -> None:
        self.source = source
        self.view = view
        self._fill_as_mask = fill_as_mask

    def get_variables(self) -> dict[str, xarray.Variable]:
        """Return the variables by name; those whose elements xarray has no words for are told."""
        with self.source.reading() as dataset:
            for node in self._lost_nodes():
                _warn(f"{quoted(node.path)} is left out: {_why_out(node)}")
            return {
                each.name: self._variable(each, dataset)
                for each in self.view.variables
                if not _why_out(each.node)
            }

    def _lost_nodes(self) -> Iterator[ArrayNode]:
        for node in getattr(self.view.node, "arrays", {}).values():
            if _why_out(node):
                yield node

    def get_attrs(self) -> dict[str, Any]:
        """Return the attributes of the group."""
        return _attributes(self.view.node)

    def get_dimensions(self) -> dict[str, int]:
        """Return the lengths of the dimensions that the group declares."""
        return {each.name: each.size for each in self.view.dimensions}

    def get_encoding(self) -> dict[str, Any]:
        """Return which dimensions are unlimited."""
        return {"unlimited_dims": {each.name for each in self.view.dimensions if each.unlimited}}

    def close(self) -> None:
        """Close the dataset."""
        self.source.close()

    def _variable(self, variable: NetcdfVariable, dataset: Dataset) -> xarray.Variable:
        node = variable.node
        assert isinstance(node, ArrayNode)
        data = LazilyIndexedArray(RefbrowserArray(self.source, node, self.source.values.get(node.path)))
        names = tuple(split(each.path)[-1] for each in variable.dimensions)
        attributes = _attributes(node)
        # Nobody described it in other words than Zarr's own.
        is_zarr = not dataset.document.described
        asked = self._fill_as_mask if is_zarr else None
        masks = node.fill_marks if asked is None else asked
        fill = _fill_value(node, variable, masks)
        if fill is not None:
            attributes[FILL_ATTRIBUTE] = fill
        encoding: dict[str, Any] = {"source": dataset.path, "original_shape": node.shape}
        if is_zarr and node.format == Flavour.ZARR_V3 and not masks and node.fill_value is not None:
            # As xarray's own engine: written again, chunks that are not stored hold the same.
            encoding["fill_value"] = node.fill_value
        if node.has_grid and node.shape and dataset.format != _CLASSIC:
            # More unequal chunks than anybody can write down are no hint for Dask.
            with suppress(RefbrowserError):
                chunks = node.grid.written_out
                encoding["chunks" if is_zarr else "chunksizes"] = chunks
                encoding["preferred_chunks"] = dict(zip(names, chunks, strict=True))
            if not is_zarr:
                encoding |= _filters(node)
        encoding["dtype"] = _encoded_type(node, variable)
        if dataset.format == _CLASSIC:
            # It has one order of bytes, which need not be asked for.
            encoding["dtype"] = encoding["dtype"].newbyteorder("=")
        return xarray.Variable(names, data, attributes, encoding)


#: What every netCDF-4 packs with.
_FILTERS = tuple(name for name, row in CODECS.items() if row.netcdf == "always")


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=2)


def _why_out(node: Any) -> str:
    """Return why xarray has no words for an array; empty where it has."""
    if node.error is not None or node.dtype is None:
        error = node.error or node.unreadable
        return "its type is not known" if error is None else str(error)
    if node.nested is not None or isinstance(node.type, SequenceType):
        return "its elements are nested: refbrowser.open reads them"
    return ""


def _filters(node: ArrayNode) -> dict[str, Any]:
    """Return how netCDF-4 packs an array, in the words of netCDF4: written again, it is packed the same."""
    settings = {codec.name: codec.configuration for codec in node.codecs}
    if not settings:
        return {}
    filters: dict[str, Any] = {name: name in settings for name in _FILTERS}
    return {**filters, "complevel": settings["zlib"].get("level", 0)} if "zlib" in settings else filters


def _plain_type(node: ArrayNode) -> np.dtype[Any]:
    """Return the type of the values as xarray knows it: texts are marked as such, values have no names."""
    dtype = node.known_dtype
    if dtype.kind in "iuf" and dtype.metadata is None:
        return dtype
    if rows_of(dtype) is str or node.type.name == "string":
        marked: np.dtype[Any] = create_vlen_dtype(str)
        return marked if dtype.kind == "O" else dtype
    plain = without_names(np.empty(0, dtype)).dtype
    # Of structures xarray changes the order of bytes into one without members.
    return plain if plain.names is None else plain.newbyteorder("=")


def _encoded_type(node: ArrayNode, variable: NetcdfVariable) -> Any:
    """Return the type as it is stored; names of values are in its metadata, as those of netCDF4."""
    dtype = node.known_dtype
    if dtype.kind == "O" and not isinstance(node.type, RowType):
        return str if _plain_type(node) != dtype or rows_of(dtype) is str else dtype
    if names := names_of(dtype):
        by_name = {name: value for value, name in names.items()}
        facts = {"enum": by_name, "enum_name": enum_name_of(dtype) or getattr(variable.type, "name", "")}
        return np.dtype(_plain_type(node), metadata=facts)
    return _plain_type(node)


def _attributes(node: Any) -> dict[str, Any]:
    """Return attributes but the fill value: of a type that the format records, else as they stand in JSON."""
    found = {}
    for name, value in node.attributes.items():
        if name == FILL_ATTRIBUTE or name in HIDDEN or name.startswith(HIDDEN_PREFIXES):
            continue
        recorded = ATOMIC_BY_NAME.get(node.attribute_types.get(name, ""))
        found[name] = value
        if recorded is not None:
            typed, _ = typed_attribute(name, value, str(recorded))
            found[name] = _as_numpy(typed.values, recorded.dtype) if typed.type == recorded else value
    return found


def _as_numpy(values: tuple[Any, ...], dtype: np.dtype[Any] | None) -> Any:
    """Return the values of an attribute as netCDF4 gives them: one alone is no list."""
    if dtype is None:
        return values[0] if len(values) == 1 else "" if not values else list(values)
    made = np.array(values, dtype)
    return made[0] if len(made) == 1 else made


def _fill_value(node: ArrayNode, variable: NetcdfVariable, masks: bool) -> Any:
    """Return what ``_FillValue`` is, None for nothing.

    Parameters
    ----------
    masks
        The fill value of the array is one.
    """
    dtype = node.known_dtype
    if dtype.names is not None or dtype.kind == "O":
        return node.attributes.get(FILL_ATTRIBUTE) if not masks else node.fill_value
    if masks and node.fill_value is not None:
        return _plain_type(node).type(node.fill_value) if dtype.kind in "biufc" else node.fill_value
    if FILL_ATTRIBUTE not in node.attributes:
        return None
    found, _ = fill_attribute(replace(node, fill_value=None), variable.type)
    if found is None or not found.values:
        return node.attributes[FILL_ATTRIBUTE]
    value = found.values[0]
    if dtype.kind == "S":
        return np.bytes_(value.encode() if isinstance(value, str) else value)
    return _plain_type(node).type(value) if dtype.kind in "biuf" else value


def _groups(view: NetcdfGroup) -> Iterator[NetcdfGroup]:
    yield view
    for below in view.groups:
        yield from _groups(below)


class RefbrowserBackendEntrypoint(BackendEntrypoint):
    """Opens all that refbrowser opens: references, stores, streams, netCDF, HDF5, arrays of Awkward 0."""

    description = "Open references, Zarr, netCDF, HDF5, ncstream and Awkward 0 with refbrowser"
    supports_groups = True
    #: xarray finds these by itself in an entry point alone, not in the class given as engine.
    open_dataset_parameters = (
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "drop_variables",
        "use_cftime",
        "decode_timedelta",
        "group",
        "allow",
        "storage_options",
        "templates",
        "options",
        "use_zarr_fill_value_as_mask",
    )

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Tell whether a local file is of a format that no other engine has."""
        if isinstance(filename_or_obj, Dataset):
            return True
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        try:
            seen = Seen.of(os.fspath(filename_or_obj))
        except (RefbrowserError, OSError):
            return False
        if seen.is_parquet:
            return True
        if seen.head is not None and looks_like_references(seen.head):
            return seen.ends(DOCUMENTS)
        return any(each.is_ours and each.score(seen) >= Score.SUFFIX for each in BUILT_IN)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        allow: Iterable[str] = (),
        storage_options: StorageOptions = (),
        templates: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> xarray.Dataset:
        """Open one group.

        Parameters
        ----------
        filename_or_obj
            A path or URL as `refbrowser.open` takes it, or an opened `refbrowser.Dataset`, which stays open.
        mask_and_scale, decode_times, concat_characters, decode_coords, drop_variables, use_cftime,
        decode_timedelta
            As other engines of xarray take them.
        group
            Path of the group; the root when None.
        allow, storage_options, templates
            As `refbrowser.open` takes them.
        options
            Other options of opening, by name: ``{"flavour": "zarr-v2"}``.
        use_zarr_fill_value_as_mask
            As the engine ``zarr`` takes it.

        Raises
        ------
        RefbrowserError
            It cannot be read, or has no such group.
        """
        source, root = _source(filename_or_obj, allow, storage_options, templates, options, group)
        store = RefbrowserDataStore(source, root, use_zarr_fill_value_as_mask)
        with _closed_on_error(source):
            opened = StoreBackendEntrypoint().open_dataset(
                store,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                drop_variables=drop_variables,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )
        # Not that of the group: it is pickled with the dataset.
        opened.set_close(source.close)
        return opened

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        allow: Iterable[str] = (),
        storage_options: StorageOptions = (),
        templates: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> dict[str, xarray.Dataset]:
        """Open a group with all below it, by path; parameters and errors are those of `open_dataset`."""
        source, root = _source(filename_or_obj, allow, storage_options, templates, options, group)
        found = {}
        with _closed_on_error(source):
            for view in _groups(root):
                path = view.path[len(root.path.rstrip("/")) :] or "/"
                found[path] = StoreBackendEntrypoint().open_dataset(
                    RefbrowserDataStore(source, view, use_zarr_fill_value_as_mask),
                    mask_and_scale=mask_and_scale,
                    decode_times=decode_times,
                    concat_characters=concat_characters,
                    decode_coords=decode_coords,
                    drop_variables=drop_variables,
                    use_cftime=use_cftime,
                    decode_timedelta=decode_timedelta,
                )
                found[path].set_close(source.close)
        return found

    def open_datatree(self, filename_or_obj: Any, **keywords: Any) -> xarray.DataTree:
        """Open a group with all below it; parameters and errors are those of `open_dataset`."""
        groups = self.open_groups_as_dict(filename_or_obj, **keywords)
        tree = xarray.DataTree.from_dict(groups)
        for path, each in groups.items():
            tree[path].set_close(each._close)
        return tree


@contextmanager
def _closed_on_error(source: SharedDataset) -> Iterator[None]:
    try:
        yield
    except BaseException:
        source.close()
        raise


def _opened_after_others(named: Any, keywords: Mapping[str, Any]) -> Dataset:
    """Open what is named; where a library reads it, by a process that has read files of the folder before.

    Starting one takes longer than most files take, and many files are opened one after another. What such a
    process finds wrong may be of the files before: then the file is read by one of its own.
    """
    chain = None
    try:
        with one_after_another(_SMALL) as chain:
            dataset = open_named(named, **keywords)
            if not (chain.is_mixed and dataset.document.notes):
                return dataset
            dataset.close()
    except RefbrowserError:
        if chain is None or not chain.is_mixed:
            raise
    return open_named(named, **keywords)


def _source(
    named: Any,
    allow: Iterable[str],
    storage_options: StorageOptions,
    templates: Mapping[str, str] | None,
    options: Mapping[str, Any] | None,
    group: str | None,
) -> tuple[SharedDataset, NetcdfGroup]:
    """Return what is named, opened, and the group that is meant."""
    if isinstance(named, Dataset):
        source = SharedDataset(named, owned=False)
    else:
        keywords = {"allow": allow, "storage_options": storage_options, "templates": templates}
        source = SharedDataset(_opened_after_others(named, {**keywords, **(options or {})}))
    with _closed_on_error(source), source.reading() as dataset:
        path = f"/{(group or '').strip('/')}"
        root = next(
            (each for each in _groups(netcdf_view(dataset.hierarchy).root) if each.path == path), None
        )
        if root is None:
            # As xarray's own engines: whoever tries groups expects an error of the system.
            message = f"there is no group {quoted(path)}"
            raise MissingFileError(ErrorKind.USAGE, message, Place(document=dataset.path))
        # What is found later is an error where it is read.
        for damage in damage_of(dataset, (path,), known=True):
            _warn(damage_text(damage))
        return source, root
