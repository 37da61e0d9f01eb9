"""What VirtualiZarr holds in memory as a document: ManifestStores, virtual Datasets and DataTrees of xarray.

Their manifests are columns, and stay columns. What was loaded, and what lies in a store in memory, stands in
the document itself.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Hashable, Iterable, Mapping
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

import numpy as np
import numpy.typing as npt

from refbrowser.engine.opening import dataset_of
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.zarr.v3 import parse_chunk_keys
from refbrowser.io.access.access import Access
from refbrowser.io.origins import Origin, parse_storage_options
from refbrowser.model.netcdf.types import ATOMIC_OF
from refbrowser.references.content.value_table import json_of
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument

if TYPE_CHECKING:
    from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore
    from xarray import Dataset as XarrayDataset
    from xarray import DataTree, Variable

    from refbrowser.engine.dataset import Dataset

    VirtualSource = ManifestStore | XarrayDataset | DataTree

_METADATA = "zarr.json"
_FILE = "file://"
#: Of a variable's encoding, what says how values are written; the rest says where they came from.
_ENCODED = ("_FillValue", "missing_value", "scale_factor", "add_offset", "units", "calendar", "dtype")
#: What of that belongs to a virtual variable: its elements are as they are stored.
_TOLD = _ENCODED[:-1]


def open_virtual(
    source: VirtualSource,
    allow: Iterable[str] = (),
    storage_options: Iterable[str] = (),
    allow_codecs: Iterable[str] = (),
) -> Dataset:
    """Open what VirtualiZarr holds in memory.

    It lies in no folder: whatever its references lead to needs a permission.

    Parameters
    ----------
    allow, storage_options, allow_codecs
        As `refbrowser.open` takes them.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: nothing in a Dataset is virtual; `E_META`, `E_REF`: a manifest cannot be that of its array;
        `E_BUDGET`: there are too many references.
    TypeError
        It is nothing that can be opened.
    """
    exact = frozenset(map(Origin.parse, allow))
    access = Access.for_nothing(exact, parse_storage_options(storage_options)).lending(allow_codecs)
    name, document = document_of(source)
    session = Session()
    session.only_here = "it was opened from objects in memory, which have no path"
    try:
        return dataset_of(name, document, access, session)
    except BaseException:
        session.close()
        raise


def document_of(source: VirtualSource) -> tuple[str, ManifestDocument]:
    """Return what a source is called, and its document; errors are those of `open_virtual`."""
    try:
        from virtualizarr.manifests import ManifestStore
        from xarray import Dataset as XarrayDataset
        from xarray import DataTree
    except ImportError:
        raise _no_source(source) from None
    maker = _Maker()
    if isinstance(source, ManifestStore):
        name, maker.registry = "manifest_store", source._registry
        maker.add_group("", source._group)
    elif isinstance(source, XarrayDataset):
        name = "virtual_dataset"
        _check_virtual(name, [source])
        maker.add_dataset("", source)
    elif isinstance(source, DataTree):
        name = "virtual_datatree"
        groups = {
            node.relative_to(source).strip("."): node.to_dataset(inherit=False) for node in source.subtree
        }
        _check_virtual(name, groups.values())
        for path, group in groups.items():
            maker.add_dataset(path, group)
    else:
        raise _no_source(source)
    return name, maker.document(name)


def _is_virtual(variable: Variable) -> bool:
    from virtualizarr.manifests import ManifestArray

    return isinstance(variable._data, ManifestArray)


def _check_virtual(name: str, groups: Iterable[XarrayDataset]) -> None:
    """Raise `E_USAGE` where nothing is virtual: all of it would be loaded."""
    if not any(map(_is_virtual, chain.from_iterable(group.variables.values() for group in groups))):
        message = "it has no virtual arrays and so no references"
        advice = "open it with virtualizarr.open_virtual_dataset, or write it with its own to_zarr"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=name), advice)


def _no_source(source: object) -> TypeError:
    kinds = "a path, a URL, or a ManifestStore, virtual Dataset or virtual DataTree of VirtualiZarr"
    return TypeError(f"{kinds} can be opened, not {type(source).__name__}")


class _Maker:
    """Gathers groups and arrays with their references."""

    def __init__(self) -> None:
        self.registry: Any = None
        self._builder = ManifestBuilder("")
        self._urls: dict[str, None] = {}

    def document(self, name: str) -> ManifestDocument:
        """Return the document of all that was added."""
        self._builder.place = next(iter(self._urls)) if len(self._urls) == 1 else folder_of(self._urls)
        return self._builder.document(name=name)

    def add_group(self, path: str, group: ManifestGroup) -> None:
        """Add a group of a ManifestStore with all below it."""
        self._add_metadata(path, group.metadata)
        for name, array in group.arrays.items():
            self._add_array(_below(path, name), array.metadata, array.manifest)
        for name, below in group.groups.items():
            self.add_group(_below(path, name), below)

    def add_dataset(self, path: str, dataset: XarrayDataset) -> None:
        """Add a Dataset as a group: its virtual variables by their references, others with their values."""
        from virtualizarr.manifests.utils import copy_and_replace_metadata
        from xarray.conventions import encode_dataset_coordinates
        from zarr.core.group import GroupMetadata

        variables, attributes = encode_dataset_coordinates(dataset)
        self._add_metadata(path, GroupMetadata(attributes=in_json(attributes)))
        written = _written({name: each for name, each in variables.items() if not _is_virtual(each)})
        for name, variable in variables.items():
            below = _below(path, str(name))
            if name in written:
                for key, data in written[name].items():
                    self._add_written(f"{below}/{key}", data)
                continue
            array: ManifestArray = variable._data
            encoded = {each: variable.encoding[each] for each in _TOLD if each in variable.encoding}
            metadata = copy_and_replace_metadata(
                array.metadata,
                new_dimension_names=list(map(str, variable.dims)),
                new_attributes=in_json({**encoded, **variable.attrs}),
            )
            self._add_array(below, metadata, array.manifest)

    def _add_written(self, key: str, data: bytes) -> None:
        if key.endswith(f"/{_METADATA}"):
            self._builder.add_metadata({key: data})
        else:
            self._builder.add_bytes(key, data)

    def _add_metadata(self, path: str, metadata: Any) -> None:
        from zarr.core.buffer import default_buffer_prototype

        found = metadata.to_buffer_dict(default_buffer_prototype())[_METADATA]
        self._builder.add_metadata({_below(path, _METADATA): json_of(json.loads(found.to_bytes()))})

    def _add_array(self, path: str, metadata: Any, manifest: ChunkManifest) -> None:
        self._add_metadata(path, metadata)
        # The library's own references of netCDF-3 have an axis where the array has none.
        shape = () if not metadata.shape and len(manifest) == 1 else manifest.shape_chunk_grid
        sides = zip(metadata.shape, metadata.chunk_grid.chunk_shape, strict=True)
        grid = tuple(-(-size // max(side, 1)) for size, side in sides)
        if shape != grid and 0 not in grid:
            message = f"its manifest has {shape} chunks, and its grid {grid}"
            raise RefbrowserError(ErrorKind.META, message, Place(path=f"/{path}"))
        paths = manifest._paths.reshape(-1)
        numbers = np.flatnonzero(paths != "")
        if not len(numbers):
            return
        columns = []
        for column in (manifest._offsets, manifest._lengths):
            taken = column.reshape(-1)[numbers]
            if taken.max() > np.iinfo(np.int64).max:
                message = "an offset or a length in its manifest is 2^63 or more"
                raise RefbrowserError(ErrorKind.REF, message, Place(path=f"/{path}"))
            columns.append(taken.astype(np.int64))
        offsets, lengths = columns
        coords = np.stack(np.unravel_index(numbers, shape), axis=-1) if shape else np.zeros((1, 0), np.int64)
        urls, url = _distinct(paths[numbers])
        encoding = parse_chunk_keys(metadata.chunk_key_encoding.to_dict())
        in_memory = np.array([self._memory(each) is not None for each in urls])[url]
        for row in np.flatnonzero(in_memory).tolist():
            data = self._read_memory(urls[url[row]], int(offsets[row]), int(lengths[row]))
            self._builder.add_bytes(f"{path}/{encoding.encode(tuple(coords[row].tolist()))}", data)
        rows = np.flatnonzero(~in_memory)
        if len(rows):
            spelled = [each.removeprefix(_FILE) if each.startswith(f"{_FILE}/") else each for each in urls]
            self._urls.update(dict.fromkeys(spelled[at] for at in np.unique(url[rows]).tolist()))
            self._builder.add_ranges(
                f"{path}/", coords[rows], offsets[rows], lengths[rows], encoding, spelled, url[rows]
            )

    def _read_memory(self, url: str, start: int, length: int) -> bytes:
        store, key = self._memory(url)
        try:
            return bytes(store.get_range(key, start=start, length=length)) if length else b""
        except Exception as error:  # it raises errors of many kinds
            message = f"the store in memory cannot read it: {quoted(error)}"
            place = Place(url=url, start=start, stop=start + length)
            raise RefbrowserError(ErrorKind.SOURCE, message, place) from error

    def _memory(self, url: str) -> Any:
        """Return the store in memory that has what a URL names, and its key there; None elsewhere."""
        if self.registry is None or not url.startswith("memory:"):
            return None
        from obstore.store import MemoryStore

        try:
            store, _ = self.registry.resolve(url)
        except ValueError:
            return None
        return (store, urlparse(url).path.lstrip("/")) if isinstance(store, MemoryStore) else None


def _below(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _distinct(paths: npt.NDArray[Any]) -> tuple[list[str], npt.NDArray[np.int32]]:
    """Return the distinct texts of a column and the position of each row's; they mostly come in runs."""
    starts = np.flatnonzero(np.concatenate(([True], paths[1:] != paths[:-1])))
    found: dict[str, int] = {}
    at = np.array([found.setdefault(each, len(found)) for each in paths[starts].tolist()], np.int32)
    return list(found), np.repeat(at, np.diff(np.append(starts, len(paths))))


def folder_of(urls: Iterable[str]) -> str:
    """Return the folder that URLs or keys lie in, without a ``/`` at its end; empty where there is none."""
    found = list(urls)
    if not found:
        return ""
    parts = zip(min(found).split("/")[:-1], max(found).split("/")[:-1], strict=False)
    folder = "/".join(part for part, _ in takewhile(lambda both: both[0] == both[1], parts))
    return "" if folder.endswith((":", ":/")) else folder


def _written(variables: Mapping[Hashable, Variable]) -> dict[Hashable, dict[str, bytes]]:
    """Return what Zarr v3 has of variables whose values are there, by key, as xarray writes them."""
    from xarray import Dataset as XarrayDataset
    from zarr.storage import MemoryStore

    plain = {}
    for name, variable in variables.items():
        plain[name] = variable.copy(deep=False)
        plain[name].encoding = {
            each: variable.encoding[each] for each in _ENCODED if each in variable.encoding
        }
        fill = _no_value_of(plain[name])
        if fill is not None:
            plain[name].encoding["fill_value"] = fill
        plain[name].attrs.pop("coordinates", None)
    kept: dict[str, Any] = {}
    with warnings.catch_warnings():
        # Of types that Zarr v3 has no word for yet; we read them.
        warnings.simplefilter("ignore")
        XarrayDataset(plain).to_zarr(
            MemoryStore(kept), zarr_format=3, consolidated=False, mode="w", write_empty_chunks=True
        )
    found: dict[Hashable, dict[str, bytes]] = {}
    for name, variable in variables.items():
        before = f"{name}/"
        keys = {key.removeprefix(before): data for key, data in kept.items() if key.startswith(before)}
        metadata = json.loads(keys.pop(_METADATA).to_bytes())
        metadata["attributes"].pop("coordinates", None)
        if "coordinates" in variable.attrs:
            metadata["attributes"]["coordinates"] = variable.attrs["coordinates"]
        found[name] = {_METADATA: json_of(metadata), **{key: data.to_bytes() for key, data in keys.items()}}
    return found


def _no_value_of(variable: Variable) -> int | None:
    """Return a fill value that no element of integers has, None for the usual one.

    That is 0, and elsewhere, as in netCDF and Zarr v2, elements that are the fill value are missing.
    """
    if "_FillValue" in variable.encoding or "_FillValue" in variable.attrs:
        return None
    dtype = np.dtype(variable.encoding.get("dtype", "i8" if variable.dtype.kind in "mM" else variable.dtype))
    atomic = ATOMIC_OF.get(dtype.newbyteorder("="))
    if atomic is None or not atomic.is_integer:
        return None
    fill = int(atomic.default_fill)
    return None if variable.dtype.kind in "iu" and (variable.values == fill).any() else fill


def in_json(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    """Return attributes in values of JSON."""
    return {
        str(name): value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in attributes.items()
    }
