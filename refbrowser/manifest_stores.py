"""A dataset as a ManifestStore of VirtualiZarr: the references of each array as columns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.saving.portable_document import portable_document
from refbrowser.formats.registry import facet
from refbrowser.io.buckets.bucket import Bucket
from refbrowser.io.origins import DEFAULT_PORTS, OBJECT_STORES, ConnectionSettings, Origin
from refbrowser.limits import LIMITS
from refbrowser.loading import require
from refbrowser.manifest_documents import folder_of, in_json
from refbrowser.model.grid import sides_text
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.dataset import netcdf_view
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.xarray_backend import RefbrowserDataStore, SharedDataset

if TYPE_CHECKING:
    from obspec_utils.registry import ObjectStoreRegistry
    from virtualizarr.manifests import ManifestStore

    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.access.access import Location
    from refbrowser.model.netcdf.types import NetcdfGroup

#: Stores in memory, by number: each has the bytes that stand in one document.
_MEMORY = "memory://inline-{}"
#: The codec of texts, alike in both versions of Zarr.
_TEXTS = "vlen-utf8"
#: Local files, from the root on.
_FILES = "file:///"
#: Groups that an error lists.
_LISTED = 20


def to_virtualizarr(dataset: Dataset, registry: ObjectStoreRegistry[Any] | None = None) -> ManifestStore:
    """Return a dataset as a ManifestStore; arrays that references cannot give are left out, with a warning.

    The store reads by itself, by obstore: only from where the dataset may read, which is looked at here.
    Members of zip archives that are stored as they are become ranges of the archive; deflated ones are kept
    in memory while there is room.

    Parameters
    ----------
    registry
        What places are read by. Stores are added for those that it has none for, with the settings of the
        connection that were given for them. None holds credentials: those of the environment are looked up
        by obstore where ``anonymous=false`` was said, and only there. A warning names places for which none
        can be made: register one.

    Raises
    ------
    RefbrowserError
        `E_BLOCKED`: a reference leads to where the dataset may not read; `E_BUDGET`: there are too many.
    """
    made = manifest_store_of(dataset, registry)
    for error in made.left_out:
        message = f"{quoted(error.place.path or '')} is left out: {error.message}"
        warnings.warn(message, UserWarning, stacklevel=2)
    return made.store


@dataclass(frozen=True, slots=True)
class MadeStore:
    """A ManifestStore of a dataset.

    Attributes
    ----------
    dataset
        Where its references are from: what was opened, or that with references that others can follow.
    left_out
        Why arrays are not in it, each with its path.
    """

    store: ManifestStore
    dataset: Dataset
    left_out: tuple[RefbrowserError, ...]


def manifest_store_of(
    dataset: Dataset,
    registry: ObjectStoreRegistry[Any] | None = None,
    group: str = "/",
    skipped: Collection[str] = (),
) -> MadeStore:
    """Return a group of a dataset, with all below it, as a ManifestStore.

    Parameters
    ----------
    registry
        As `to_virtualizarr` has it.
    group
        Its path; it is the root of the store.
    skipped
        Names or paths of arrays that are not wanted.

    Raises
    ------
    RefbrowserError
        As `to_virtualizarr`; `E_USAGE`: there is no such group.
    """
    require("virtualizarr")
    from obspec_utils.registry import ObjectStoreRegistry
    from virtualizarr.manifests import ManifestStore

    store = dataset.document.store
    is_zip = store is not None and store.container == "zip"
    if is_zip or facet(dataset.document, "portable") is not None:
        dataset = dataset.with_document(portable_document(dataset, JobControl()).document)
    found = ObjectStoreRegistry() if registry is None else registry
    maker = _Maker(dataset, found, skipped)
    made = maker.group(_group_at(dataset, group))
    maker.register()
    return MadeStore(ManifestStore(made, registry=found), dataset, tuple(maker.left_out))


def _group_at(dataset: Dataset, path: str) -> NetcdfGroup:
    groups = {f"/{'/'.join(parts)}": each for parts, each in netcdf_view(dataset.hierarchy).walk()}
    found = groups.get(f"/{path.strip('/')}")
    if found is None:
        advice = f"there are {', '.join(list(groups)[:_LISTED])}"
        raise RefbrowserError(ErrorKind.USAGE, f"there is no group {quoted(path)}", advice=advice)
    return found


class _Maker:
    """Makes groups and arrays, and gathers what they read from."""

    def __init__(
        self, dataset: Dataset, registry: ObjectStoreRegistry[Any], skipped: Collection[str]
    ) -> None:
        self.dataset = dataset
        #: Why arrays are not there.
        self.left_out: list[RefbrowserError] = []
        self._skipped = frozenset(skipped)
        self._registry = registry
        self._source = SharedDataset(dataset, owned=False)
        #: Where the bytes that stand in the document lie for the store: one object for all of them.
        self._memory = next(url for url in map(_MEMORY.format, count()) if not self._is_known(url))
        #: Where bytes lie, by what the store knows it by.
        self._places: dict[str, Location] = {}
        self._sizes: dict[tuple[Origin, str], dict[str, int]] = {}
        self._inline = bytearray()

    def group(self, view: NetcdfGroup) -> Any:
        """Return a group with all below it."""
        from virtualizarr.manifests import ManifestGroup

        store = RefbrowserDataStore(self._source, view)
        arrays = {}
        for name, variable in store.get_variables().items():
            node = next(each.node for each in view.variables if each.name == name)
            assert node is not None
            if self._skipped & {name, node.path, node.path.lstrip("/")}:
                continue
            try:
                arrays[name] = self._array(node, variable.dims, variable.attrs)
            except (TypeError, ValueError, KeyError, RefbrowserError) as error:
                if isinstance(error, RefbrowserError) and error.kind is not ErrorKind.META:
                    raise
                why = getattr(error, "message", "") or f"Zarr v3 cannot describe it ({quoted(error)})"
                self.left_out.append(RefbrowserError(ErrorKind.META, why, Place(path=node.path)))
        groups = {each.name: self.group(each) for each in view.groups}
        return ManifestGroup(arrays=arrays, groups=groups, attributes=in_json(store.get_attrs()))

    def register(self) -> None:
        """Add what objects are read by, by the beginning of their URLs, where nothing is there."""
        from obstore.store import LocalStore, MemoryStore

        for url, location in self._places.items():
            if self._is_known(url):
                continue
            if location.scheme == "file":
                self._registry.register(_FILES, LocalStore())
                continue
            try:
                store = _store_of(location.origin, self.dataset.access.connection(location.origin))
            except _NoStoreError as error:
                message = f"no store can be made for {location.origin}: {error}; register one in the registry"
                warnings.warn(message, UserWarning, stacklevel=3)
            else:
                self._registry.register(str(location.origin), store)
        if self._inline:
            memory = MemoryStore()
            memory.put("all", bytes(self._inline))
            self._registry.register(self._memory, memory)

    def _is_known(self, url: str) -> bool:
        """Tell whether something reads what a URL names."""
        try:
            self._registry.resolve(url)
        except ValueError:
            return False
        return True

    def _array(self, node: ArrayNode, dimensions: Any, attributes: Mapping[str, Any]) -> Any:
        from virtualizarr.codecs import zarr_codec_config_to_v3
        from virtualizarr.manifests import ManifestArray
        from virtualizarr.manifests.utils import create_v3_array_metadata
        from xarray.backends.zarr import FillValueCoder

        dtype = node.known_dtype
        is_text = any(each.name == _TEXTS for each in node.codecs)
        if node.values.encoded is None or (dtype.hasobject and not is_text):
            why = node.not_referencable or "no single reference describes a chunk of it"
            raise RefbrowserError(ErrorKind.META, why, Place(path=node.path))
        if not node.grid.is_regular:
            message = (
                f"its chunks have unequal sides, {sides_text(node.grid)}, which VirtualiZarr does not have"
            )
            raise RefbrowserError(ErrorKind.META, message, Place(path=node.path))
        if not node.format.endswith("v3"):
            # Drafts have the codecs of version 2.
            codecs = [
                {"name": _TEXTS}
                if each.name == _TEXTS
                else zarr_codec_config_to_v3({"id": each.name, **each.configuration})
                for each in node.codecs
            ]
            if node.order == "F" and len(node.shape) > 1:
                order = list(range(len(node.shape)))[::-1]
                codecs.insert(0, {"name": "transpose", "configuration": {"order": order}})
        else:
            codecs = [{"name": each.name, "configuration": dict(each.configuration)} for each in node.codecs]
        shown = in_json(attributes)
        if FILL_ATTRIBUTE in shown:
            # One that no element can have marks none.
            fill = shown.pop(FILL_ATTRIBUTE)
            with suppress(ValueError, OverflowError):
                shown[FILL_ATTRIBUTE] = FillValueCoder.encode(dtype.type(fill), dtype)
        keys = node.values.encoded.keys
        metadata = create_v3_array_metadata(
            shape=node.shape,
            data_type=np.dtypes.StringDType() if is_text else dtype,
            chunk_shape=node.grid.largest,
            chunk_key_encoding={
                "name": "default",
                "separator": keys.separator if keys.name == "default" else ".",
            },
            # Zarr v2 has numbers and nothing where no text is.
            fill_value=(node.fill_value or "") if is_text else node.fill_value,
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
        locations = {number: self._location(columns.urls[number], node) for number in used.tolist()}
        whole = np.unique(columns.url[columns.kind == ReferenceKind.WHOLE]).tolist()
        sizes = np.zeros(len(columns.urls) + 1, np.int64)
        there = self._sizes_of({number: locations[number] for number in whole}, node)
        for number, location in locations.items():
            if number in there and there[number] is None:
                if not self._may_lack(location):
                    raise _unsaid(f"{quoted(location.url)} does not exist", node, location)
                # A chunk that the store does not have is missing.
                continue
            urls[number], sizes[number] = self._spelled(location, node), there.get(number) or 0
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

    def _location(self, url: str, node: ArrayNode) -> Location:
        """Return where a reference leads.

        Raises
        ------
        RefbrowserError
            It may not be read; `E_META`: the store cannot read it.
        """
        location = self.dataset.access.resolve(url)
        if location.member:
            raise _unsaid("it is in a member of an archive", node, location)
        return location

    def _spelled(self, location: Location, node: ArrayNode) -> str:
        """Return the URL that the store knows a place by: it takes the path as it stands."""
        path = location.path
        is_http = location.scheme in DEFAULT_PORTS
        if "?" in path or "#" in path:
            why = "its URL has a query" if is_http else "its name has a ? or a #"
            raise _unsaid(f"{why}, which is not passed to obstore", node, location)
        if is_http:
            path = unquote(location.path)
            if quote(path) != quote(location.path, safe="/%"):
                raise _unsaid("obstore spells its URL otherwise", node, location)
        begin = _FILES if location.scheme == "file" else f"{location.origin}/"
        self._places.setdefault(begin, location)
        return begin + path.lstrip("/")

    def _sizes_of(self, locations: Mapping[int, Location], node: ArrayNode) -> dict[int, int | None]:
        """Return the sizes of whole objects, None of one that is not there; those of buckets are listed.

        Raises
        ------
        RefbrowserError
            `E_META`: they are nowhere told; `E_SOURCE`: the bucket cannot be listed.
        """
        found: dict[int, int | None] = {}
        by_origin: dict[Origin, dict[int, str]] = {}
        for number, location in locations.items():
            if location.scheme == "file":
                try:
                    found[number] = os.stat(location.path).st_size
                except FileNotFoundError:
                    found[number] = None
            elif location.scheme in OBJECT_STORES:
                by_origin.setdefault(location.origin, {})[number] = location.path
            else:
                raise _unsaid("the sizes of whole objects at a URL are not known", node, location)
        for origin, keys in by_origin.items():
            listed = self._listed(origin, f"{folder_of(keys.values())}/")
            found |= {number: listed.get(key) for number, key in keys.items()}
        return found

    def _may_lack(self, location: Location) -> bool:
        """Tell whether an object that is not there is a chunk that the opened store does not have."""
        access = self.dataset.access
        return access.store is not None and location.url.startswith(access.store) and not access.is_lost

    def _listed(self, origin: Origin, prefix: str) -> dict[str, int]:
        if (origin, prefix) not in self._sizes:
            bucket = Bucket(origin, self.dataset.access.connection(origin), export=False)
            self._sizes[origin, prefix] = {each.key: each.size for each in bucket.objects(prefix.lstrip("/"))}
        return self._sizes[origin, prefix]

    def _put_inline(
        self,
        columns: ReferenceColumns,
        paths: npt.NDArray[Any],
        offsets: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
    ) -> None:
        for row in np.flatnonzero(columns.kind == ReferenceKind.INLINE).tolist():
            data = columns.inline[row]
            paths[row], offsets[row], lengths[row] = f"{self._memory}/all", len(self._inline), len(data)
            self._inline += data


class _NoStoreError(Exception):
    """Why obstore has no store for a place."""


def _store_of(origin: Origin, settings: ConnectionSettings) -> Any:
    """Return what reads from a host or a bucket as the settings say, without what nobody said.

    Raises
    ------
    _NoStoreError
        There is none that reads so.
    """
    from obstore.store import AzureStore, GCSStore, HTTPStore, S3Store

    if settings.headers or settings.has_login:
        raise _NoStoreError("its headers, logins and tokens stay here")
    client: Any = {"allow_http": (settings.endpoint or str(origin)).startswith("http://")}
    if origin.scheme in DEFAULT_PORTS:
        return HTTPStore.from_url(str(origin), client_options=client)
    if settings.requester_pays and origin.scheme != "s3":
        raise _NoStoreError("obstore does not support requester pays")
    said: dict[str, Any] = {"skip_signature": settings.anonymous, "client_options": client}
    if origin.scheme == "gs":
        if settings.profile is not None and os.path.isfile(settings.profile):
            said["application_credentials"] = settings.profile
        elif settings.profile not in (None, "google_default"):
            raise _NoStoreError("obstore has no profiles")
        if settings.endpoint is not None:
            said["base_url"] = settings.endpoint
        return GCSStore(origin.host, **said)
    if settings.profile is not None:
        raise _NoStoreError("obstore has no profiles")
    if settings.endpoint is not None:
        said["endpoint"] = settings.endpoint
    if origin.scheme == "s3":
        if settings.region is not None:
            said["region"] = settings.region
        if settings.requester_pays:
            said["request_payer"] = True
        return S3Store(origin.host, **said)
    container, _, host = origin.host.partition("@")
    account = host.partition(".")[0] or settings.account
    if account is None and settings.anonymous:
        raise _NoStoreError("the storage account is not known")
    if account is not None:
        said["account_name"] = account
    return AzureStore(container, **said)


def _unsaid(why: str, node: ArrayNode, location: Location) -> RefbrowserError:
    """Return the error that VirtualiZarr has no words for where chunks lie."""
    return RefbrowserError(ErrorKind.META, why, Place(path=node.path, url=location.url))
