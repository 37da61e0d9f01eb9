"""A dataset as a ManifestStore of VirtualiZarr: the references of each array as columns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.dataset import netcdf_view
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.xarray_backend import RefbrowserDataStore, SharedDataset

if TYPE_CHECKING:
    from virtualizarr.manifests import ManifestStore

    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.access import Location
    from refbrowser.model.netcdf.types import NetcdfGroup

#: Where the bytes that stand in a document lie for the store: in memory, one object for all of them.
_MEMORY = "memory://inline"


def to_virtualizarr(dataset: Dataset) -> ManifestStore:
    """Return a dataset as a ManifestStore; arrays that references cannot give are left out, with a warning.

    The store reads by itself, by obstore: only from where the dataset may read, which is looked at here.

    Raises
    ------
    RefbrowserError
        `E_BLOCKED`: a reference leads to where the dataset may not read; `E_BUDGET`: there are too many.
    """
    from obspec_utils.registry import ObjectStoreRegistry
    from virtualizarr.manifests import ManifestStore

    maker = _Maker(dataset)
    group = maker.group(netcdf_view(dataset.hierarchy).root)
    return ManifestStore(group, registry=ObjectStoreRegistry(maker.stores()))


class _Maker:
    """Makes groups and arrays, and gathers what they read from."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._source = SharedDataset(dataset, owned=False)
        self._places: dict[str, Location] = {}
        self._inline = bytearray()

    def group(self, view: NetcdfGroup) -> Any:
        """Return a group with all below it."""
        from virtualizarr.manifests import ManifestGroup

        store = RefbrowserDataStore(self._source, view)
        arrays = {}
        for name, variable in store.get_variables().items():
            node = next(each.node for each in view.variables if each.name == name)
            assert node is not None
            try:
                arrays[name] = self._array(node, variable.dims, variable.attrs)
            except (TypeError, ValueError, KeyError, RefbrowserError) as error:
                if isinstance(error, RefbrowserError) and error.kind is not ErrorKind.META:
                    raise
                why = getattr(error, "message", "") or f"Zarr v3 has no words for it ({quoted(error)})"
                warnings.warn(f"{quoted(node.path)} is left out: {why}", UserWarning, stacklevel=3)
        groups = {each.name: self.group(each) for each in view.groups}
        return ManifestGroup(arrays=arrays, groups=groups, attributes=_in_json(store.get_attrs()))

    def stores(self) -> dict[str, Any]:
        """Return what objects are read by, by the beginning of their URLs."""
        from obstore.store import HTTPStore, LocalStore, MemoryStore

        found: dict[str, Any] = {}
        for location in self._places.values():
            if location.scheme == "file":
                found["file://"] = LocalStore()
            else:
                found[str(location.origin)] = HTTPStore.from_url(str(location.origin))
        if self._inline:
            memory = found[_MEMORY] = MemoryStore()
            memory.put("all", bytes(self._inline))
        return found

    def _array(self, node: ArrayNode, dimensions: Any, attributes: Mapping[str, Any]) -> Any:
        from virtualizarr.codecs import zarr_codec_config_to_v3
        from virtualizarr.manifests import ManifestArray
        from virtualizarr.manifests.utils import create_v3_array_metadata
        from xarray.backends.zarr import FillValueCoder

        dtype = node.known_dtype
        if node.values.encoded is None or dtype.hasobject:
            why = node.not_referencable or "no single reference gives a chunk of it"
            raise RefbrowserError(ErrorKind.META, why, Place(path=node.path))
        if node.format.endswith("v2"):
            codecs = [
                zarr_codec_config_to_v3({"id": each.name, **each.configuration}) for each in node.codecs
            ]
            if node.order == "F" and len(node.shape) > 1:
                order = list(range(len(node.shape)))[::-1]
                codecs.insert(0, {"name": "transpose", "configuration": {"order": order}})
        else:
            codecs = [{"name": each.name, "configuration": dict(each.configuration)} for each in node.codecs]
        shown = _in_json(attributes)
        if FILL_ATTRIBUTE in shown:
            # One that no element can have marks none.
            fill = shown.pop(FILL_ATTRIBUTE)
            with suppress(ValueError, OverflowError):
                shown[FILL_ATTRIBUTE] = FillValueCoder.encode(dtype.type(fill), dtype)
        metadata = create_v3_array_metadata(
            shape=node.shape,
            data_type=dtype,
            chunk_shape=node.grid.chunk_shape,
            chunk_key_encoding={"name": "default", "separator": "."},
            fill_value=node.fill_value,
            codecs=codecs,
            attributes=shown,
            dimension_names=dimensions,
        )
        return ManifestArray(metadata, self._manifest(node))

    def _manifest(self, node: ArrayNode) -> Any:
        from virtualizarr.manifests import ChunkManifest

        grid = node.grid.grid_shape
        if node.grid.size > LIMITS.write_out_question:
            message = (
                f"{node.grid.size} chunks are more than {LIMITS.write_out_question} (write_out_question)"
            )
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(path=node.path))
        coords = np.indices(grid, np.int64).reshape(len(grid), -1).T if grid else np.zeros((1, 0), np.int64)
        columns = node.manifest.columns(coords)
        if columns.faults:
            raise next(iter(columns.faults.values()))
        used = np.unique(columns.url[columns.url >= 0])
        urls = np.full(len(columns.urls) + 1, "", np.dtypes.StringDType())
        sizes = np.zeros(len(columns.urls) + 1, np.int64)
        whole = set(columns.url[columns.kind == ReferenceKind.WHOLE].tolist())
        for number in used.tolist():
            urls[number], size = self._place(columns.urls[number], node, number in whole)
            sizes[number] = size
        # The last one is that of rows without a URL, -1.
        paths = urls[columns.url]
        offsets = np.where(columns.kind == ReferenceKind.RANGE, columns.offset, 0)
        lengths = np.where(columns.kind == ReferenceKind.WHOLE, sizes[columns.url], columns.length)
        lengths[columns.kind == ReferenceKind.MISSING] = 0
        self._put_inline(columns, paths, offsets, lengths)
        return ChunkManifest.from_arrays(
            paths=paths.reshape(grid),
            offsets=offsets.astype(np.uint64).reshape(grid),
            lengths=lengths.astype(np.uint64).reshape(grid),
            validate_paths=False,
        )

    def _place(self, url: str, node: ArrayNode, is_whole: bool) -> tuple[str, int]:
        """Return the URL that the store knows an object by, and its size where that is needed.

        Raises
        ------
        RefbrowserError
            It may not be read; `E_META`: the store cannot read it.
        """
        location = self.dataset.access.resolve(url)
        if location.member or location.scheme not in ("file", "http", "https"):
            message = f"chunks at {location.origin} are not given to VirtualiZarr"
            raise RefbrowserError(ErrorKind.META, message, Place(path=node.path, url=location.url))
        size = 0
        if is_whole:
            if location.scheme != "file":
                message = "the sizes of whole objects at a URL are not known"
                raise RefbrowserError(ErrorKind.META, message, Place(path=node.path, url=location.url))
            # A chunk that the store does not have is missing.
            if not os.path.exists(location.path):
                return "", 0
            size = os.path.getsize(location.path)
        self._places[str(location.origin)] = location
        return (f"file://{location.path}" if location.scheme == "file" else location.url), size

    def _put_inline(
        self,
        columns: ReferenceColumns,
        paths: npt.NDArray[Any],
        offsets: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
    ) -> None:
        for row in np.flatnonzero(columns.kind == ReferenceKind.INLINE).tolist():
            data = columns.inline[row]
            paths[row], offsets[row], lengths[row] = f"{_MEMORY}/all", len(self._inline), len(data)
            self._inline += data


def _in_json(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes in values of JSON."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in attributes.items()
    }
