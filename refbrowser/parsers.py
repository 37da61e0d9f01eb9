"""Parsers of VirtualiZarr: one for each format that can be opened, and one that finds the format itself.

``refbrowser.parsers.Parser()`` opens anything, ``refbrowser.parsers.TiffParser()`` TIFF alone. There is such
a class for each row of the table of formats, those of other packages too: `names` lists them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

from refbrowser.api import StorageOptions, settings_of, texts_of
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, native_errors, quoted
from refbrowser.exporting.saving.reference_proof import SAMPLE, WHOLE, Proof, proved
from refbrowser.formats.registry import openable
from refbrowser.io.origins import DEFAULT_PORTS, OBJECT_STORES
from refbrowser.manifest_documents import open_virtual
from refbrowser.manifest_stores import manifest_store_of

if TYPE_CHECKING:
    from obspec_utils.registry import ObjectStoreRegistry
    from virtualizarr.manifests import ManifestStore

    from refbrowser.engine.dataset import Dataset
    from refbrowser.formats.format import Format

#: How much is compared with the file, by what it is called.
PROOFS = {"sample": SAMPLE, "all": WHOLE, "none": None}
#: Settings of stores of obstore that connections here have, too. None is a credential.
_SETTINGS = {
    "endpoint": "endpoint",
    "region": "region",
    "skip_signature": "anonymous",
    "account_name": "account",
    "request_payer": "requester_pays",
}
#: Arrays that an error names.
_NAMED = 5


class Parser:
    """A parser of VirtualiZarr, for whatever refbrowser opens.

    ``virtualizarr.open_virtual_dataset`` and the like call it as ``parser(url, registry)``; it can be sent to
    other processes. It reads what is named; what that refers to may be in the same folder or on the same
    host, in a place that the registry has a store for, or in one that `allow` names. A local store without a
    prefix allows nothing by itself.

    Parameters
    ----------
    group
        The group that becomes the root; with all below it.
    skip_variables
        Names or paths of arrays that are left out. An array that no manifest can describe is an error
        otherwise.
    proof
        What is compared with the file, as its library reads it, before the store is handed over: ``sample``,
        some chunks of each array as `make` does; ``all``, every chunk, but of those of more than 512 MiB only
        the beginning; ``none``.
    allow, storage_options, allow_codecs, templates, stale
        As `refbrowser.open` has them. Endpoint, region, account and whether requests are signed are those of
        the stores of the registry where nothing else is said; keys and tokens stay in these.
    options
        What its format lets one choose, as `refbrowser.open` has them.

    Attributes
    ----------
    proved
        What was compared for the last store; None where nothing was.

    Examples
    --------
    >>> from refbrowser.parsers import Parser
    >>> from obspec_utils.registry import ObjectStoreRegistry
    >>> store = Parser(group="ocean", skip_variables=["lat"])("sea_surface.json", ObjectStoreRegistry())
    >>> sorted(store.to_virtual_dataset(loadable_variables=[]).variables)
    ['lon', 'sst', 'sst_mean', 'time']
    """

    #: The name of the format that it opens; empty where it finds that out.
    format = ""

    def __init__(
        self,
        group: str | None = None,
        skip_variables: Iterable[str] | None = None,
        *,
        proof: str = "sample",
        allow: Iterable[str] = (),
        allow_codecs: Iterable[str] = (),
        storage_options: StorageOptions = (),
        templates: Mapping[str, str] | None = None,
        stale: str = "refuse",
        **options: Any,
    ) -> None:
        if proof not in PROOFS:
            message = f"a proof is one of {', '.join(PROOFS)}, not {quoted(proof)}"
            raise RefbrowserError(ErrorKind.USAGE, message)
        self.group = group
        self.skip_variables = texts_of(skip_variables or ())
        self.proof = proof
        self.storage_options = storage_options
        self.proved: Proof | None = None
        self._how: dict[str, Any] = {
            "allow": texts_of(allow),
            "templates": dict(templates or {}),
            "options": {name: each for name, each in options.items() if each is not None},
            "stale": stale,
            "allow_codecs": texts_of(allow_codecs),
        }

    @native_errors()
    def __call__(self, url: str, registry: ObjectStoreRegistry[Any]) -> ManifestStore:
        """Return what is at a URL as a ManifestStore.

        Parameters
        ----------
        url
            Of anything that refbrowser opens, or a path.
        registry
            What the store reads with; stores are added for places that it has none for, as
            `refbrowser.to_virtualizarr` adds them.

        Raises
        ------
        RefbrowserError
            `E_META`: no manifest describes an array, which is named with the cause; `E_IO`: the store gives
            other values than the file; `E_BLOCKED`: a reference leads to where nothing allows to read.
        """
        allowed = tuple(dict.fromkeys((*self._how["allow"], *_places_of(registry))))
        said = (*_settings_of(registry), *settings_of(self.storage_options, [url, *allowed]))
        told: dict[str, Any] = {**self._how, "allow": allowed, "storage_options": said}
        request = OpenRequest(url, format=self.format, **told)
        with open_dataset(request) as dataset:
            made = manifest_store_of(dataset, registry, self.group or "/", self.skip_variables)
            if made.left_out:
                raise _left_out(made.left_out, url)
            sampling = PROOFS[self.proof]
            self.proved = None
            if sampling is not None:
                with self._opened(dataset, made.store, registry) as references:
                    # Lists and records have other arrays in Zarr than in their file.
                    source = dataset if references.arrays.keys() <= dataset.arrays.keys() else made.dataset
                    self.proved = proved(source, references, JobControl().token, sampling)
            return made.store

    def _opened(self, dataset: Dataset, store: ManifestStore, registry: ObjectStoreRegistry[Any]) -> Dataset:
        """Return what a store says, opened as any other dataset is, under the paths of the file."""
        from virtualizarr.manifests import ManifestGroup, ManifestStore

        names = [name for name in reversed((self.group or "").split("/")) if name]
        root = reduce(
            lambda below, name: ManifestGroup(arrays={}, groups={name: below}, attributes={}),
            names,
            store._group,
        )
        return open_virtual(ManifestStore(root, registry=registry)).with_access(dataset.access)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(group={self.group!r}, skip_variables={self.skip_variables!r})"


def open(url: str, registry: ObjectStoreRegistry[Any], **how: Any) -> ManifestStore:
    """Return what is at a URL, of whatever format, as a ManifestStore.

    Parameters
    ----------
    url, registry
        As a `Parser` is called with them.
    how
        What `Parser` takes.

    Raises
    ------
    RefbrowserError
        As a `Parser` raises it.

    Examples
    --------
    >>> import refbrowser.parsers
    >>> from obspec_utils.registry import ObjectStoreRegistry
    >>> store = refbrowser.parsers.open("sea_surface.json", ObjectStoreRegistry(), group="ocean")
    >>> store.to_virtual_dataset(loadable_variables=[])["sst"].sizes["time"]
    12
    """
    return Parser(**how)(url, registry)


def names() -> tuple[str, ...]:
    """Return the names of the parsers of single formats, as they are imported from this module."""
    return tuple(_class_name(each) for each in openable())


def _class_name(format: Format) -> str:
    return "".join(part[:1].upper() + part[1:] for part in format.name.split("-")) + "Parser"


def __getattr__(name: str) -> type[Parser]:
    """Return the parser of one format, by the name of its class."""
    found = next((each for each in openable() if _class_name(each) == name), None)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = type(
        name,
        (Parser,),
        {"__module__": __name__, "__doc__": f"`Parser`, for {found.holds} alone.", "format": found.name},
    )
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *names()})


def _left_out(errors: tuple[RefbrowserError, ...], url: str) -> RefbrowserError:
    """Return the error of arrays that no manifest describes."""
    told = "; ".join(f"{quoted(each.place.path)}: {each.message}" for each in errors[:_NAMED])
    more = f"; and {len(errors) - _NAMED} more" if len(errors) > _NAMED else ""
    paths = [each.place.path for each in errors]
    advice = f"leave them out with skip_variables={paths[:_NAMED]}"
    place = Place(document=url, path=paths[0])
    return RefbrowserError(ErrorKind.META, f"no manifest describes {told}{more}", place, advice)


# What the stores of a registry say


def _stores_of(registry: ObjectStoreRegistry[Any]) -> Iterator[tuple[str, Any]]:
    """Yield scheme and host of each store, as the beginning of a URL, with the store."""
    for key, entry in registry.map.items():
        for store in entry.iter_stores():
            yield f"{key.scheme}://{key.netloc}", store


def _places_of(registry: ObjectStoreRegistry[Any]) -> Iterator[str]:
    """Yield the places that stores are for: hosts, buckets, and folders of this machine."""
    for url, store in _stores_of(registry):
        scheme = url.partition(":")[0]
        if scheme in (*DEFAULT_PORTS, *OBJECT_STORES):
            yield url
        elif scheme == "file" and (prefix := getattr(store, "prefix", None)):
            yield str(prefix)


def _settings_of(registry: ObjectStoreRegistry[Any]) -> Iterator[str]:
    """Yield how stores connect, as storage options."""
    for url, store in _stores_of(registry):
        if url.partition(":")[0] not in OBJECT_STORES:
            continue
        told = getattr(store, "config", None) or {}
        for name, option in _SETTINGS.items():
            if name in told:
                yield f"{url}:{option}={str(told[name]).lower() if option == 'anonymous' else told[name]}"
        if "skip_signature" not in told:
            # Such a store signs.
            yield f"{url}:anonymous=false"
