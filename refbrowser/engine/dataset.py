"""An opened dataset: groups, arrays that index like numpy's, and what a damaged source has lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from refbrowser.engine.array_protocol import ArrayProtocol
from refbrowser.engine.dataset_errors import ClosedError, NoSuchNodeError
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, native_errors, quoted
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.loading import load, require
from refbrowser.model.node_attributes import Attributes
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy, Node
from refbrowser.model.report import Displayed
from refbrowser.model.selection import Selection, is_basic

if TYPE_CHECKING:
    from refbrowser.engine.metadata import Elsewhere
    from refbrowser.engine.reading.parts import EndedPart
    from refbrowser.engine.reading.reader import ReadPlan
    from refbrowser.engine.session import Session
    from refbrowser.engine.store import ReferenceStore
    from refbrowser.engine.window_process import WindowProcess
    from refbrowser.io.access.access import Access
    from refbrowser.io.identity import FileIdentity, ObjectIdentity
    from refbrowser.model.grid import ChunkGrid
    from refbrowser.model.nested import NestedRows
    from refbrowser.model.netcdf.types import NetcdfDataset
    from refbrowser.references.document.document import Document


def damage_of(
    dataset: Dataset, paths: Iterable[str] | None = None, *, known: bool = False
) -> tuple[Finding, ...]:
    """Return what is damaged in the source of a dataset, in the order in which it was found.

    Parameters
    ----------
    paths
        Absolute paths of arrays or groups: only what may concern one of them, or what is below it. None for
        all of the dataset.
    known
        Only what is known without reading more of the source.
    """
    notes = notes_of(dataset, paths, known=known)
    return tuple(note for note in notes if note.is_loss or note.severity is Severity.FAULT)


def notes_of(
    dataset: Dataset, paths: Iterable[str] | None = None, *, known: bool = False
) -> tuple[Finding, ...]:
    """Return what was noted of the source, warnings too; the parameters are those of `damage_of`."""
    wanted = None if paths is None else tuple(paths)
    document = dataset.document
    return tuple(
        note
        for note in (*(document.notes if known else document.noted(wanted)), *_found_later(dataset))
        if note.is_anywhere or wanted is None or any(_concerns(note.place.path, path) for path in wanted)
    )


def _found_later(dataset: Dataset) -> Iterator[Finding]:
    """Yield the members of archives that turned out to be damaged when they were read, or confirmed."""
    for error in dataset.access.memory.archives.damaged:
        key = error.place.key or ""
        folders = key.split("/")[:-1]
        above = ("/" + "/".join(folders[:depth]) for depth in range(len(folders), 0, -1))
        path = next((path for path in above if dataset.hierarchy.find(path) is not None), None)
        yield Finding(
            severity=Severity.FAULT,
            kind=error.kind,
            message=f"member {quoted(key)}: {error.message}",
            place=replace(error.place, path=path),
        )


def _concerns(about: str | None, path: str) -> bool:
    """Return whether what is said of a path, or of any path where it is None, concerns another one."""
    if about is None:
        return True
    about, path = f"{about.rstrip('/')}/", f"{path.rstrip('/')}/"
    return about.startswith(path) or path.startswith(about)


class _Members(Displayed, Mapping[str, "Array | Group"]):
    """The children of a group by name, as zarr and h5py have them; paths lead further down.

    Two are equal when they are the same object, and one without children is true: it is a thing, not a
    collection.
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> Any:
        # What other processes get of it is loaded once it goes to one.
        return load("refbrowser.engine.frozen_dataset:reduced")(self)

    def _root(self) -> tuple[Dataset, Node]:
        """Return the dataset, and the node whose children these are."""
        raise NotImplementedError

    def __getitem__(self, path: str) -> Array | Group:
        dataset, root = self._root()
        if not isinstance(path, str):
            raise TypeError(f"a group is indexed by names and paths, not by {type(path).__name__}")
        full = str(PurePosixPath(root.path, path))
        node = dataset.hierarchy.find(full)
        if node is None:
            raise NoSuchNodeError(full, dataset.path, damage_of(dataset, (full,)), _similar(dataset, full))
        return Array(dataset, node) if isinstance(node, ArrayNode) else Group(dataset, node)

    def __contains__(self, path: object) -> bool:
        dataset, root = self._root()
        full = isinstance(path, str) and str(PurePosixPath(root.path, path))
        return isinstance(full, str) and dataset.hierarchy.find(full) is not None

    def __iter__(self) -> Iterator[str]:
        _, root = self._root()
        if isinstance(root, GroupNode):
            yield from dict.fromkeys((*root.groups, *root.arrays))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _ipython_key_completions_(self) -> list[str]:
        dataset, root = self._root()
        below = f"{root.path.rstrip('/')}/"
        paths = (node.path for node in dataset.hierarchy.walk())
        return [path[len(below) :] for path in paths if path.startswith(below) and path != below]

    def array(self, path: str) -> Array:
        """Return the array at a path.

        Raises
        ------
        NoSuchNodeError
            There is nothing of that path, or a group.
        """
        found = self[path]
        if isinstance(found, Array):
            return found
        raise NoSuchNodeError(path, self._root()[0].path, what="array", advice="it is a group: use group()")

    def group(self, path: str) -> Group:
        """Return the group at a path.

        Raises
        ------
        NoSuchNodeError
            There is nothing of that path, or an array.
        """
        found = self[path]
        if isinstance(found, Group):
            return found
        raise NoSuchNodeError(path, self._root()[0].path, what="group", advice="it is an array: use array()")


#: Names that are offered where one is not there.
_OFFERED = 3


def _similar(dataset: Dataset, path: str) -> str:
    """Return advice that names nodes that may be meant: of the same name elsewhere, else spelled alike."""
    *_, name = path.rstrip("/").split("/")
    paths = [node.path for node in dataset.hierarchy.walk() if node.path != "/"]
    meant = [each for each in paths if each.rsplit("/", 1)[-1] == name]
    return _meant(meant or _spelled_alike(path, paths))


def _spelled_alike(name: str, names: Iterable[str]) -> list[str]:
    folded = {each.casefold(): each for each in names}
    return [folded[each] for each in get_close_matches(name.casefold(), folded, _OFFERED)]


def _meant(names: list[str]) -> str:
    return f"did you mean {' or '.join(names[:_OFFERED])}?" if names else ""


class Dataset(_Members):
    """A dataset as it was opened: what is in it, what it may read, and what reads it.

    It maps the names of the groups and arrays at its root to them; a path leads to any other. It is a value:
    an edited document or another permission gives another dataset (`with_document`, `with_access`) that
    shares the session. It can be pickled: whoever unpickles it opens its path again.

    Attributes
    ----------
    path
        What was opened, as the user named it.
    document
        The reference document behind it.
    hierarchy
        Groups and arrays.
    access
        Where bytes may come from.
    session
        Fetcher, decode pool and cache.
    elsewhere
        Metadata that was read from where the document refers to.
    identity
        The state of its file when it was read; None where there is no single one, and of what is not local.
    """

    def __init__(
        self,
        path: str,
        document: Document,
        hierarchy: Hierarchy,
        access: Access,
        session: Session,
        elsewhere: Elsewhere | None = None,
        identity: FileIdentity | ObjectIdentity | None = None,
    ) -> None:
        self.path = path
        self.document = document
        self.hierarchy = hierarchy
        self.access = access
        self.session = session
        self.elsewhere: Elsewhere = elsewhere or {}
        self.identity = identity

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def format(self) -> str:
        """The name of its format, as in ``refbrowser export --to``."""
        return self.hierarchy.format

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Attributes of the root; they are read-only."""
        return Attributes(self.hierarchy.root)

    @property
    def groups(self) -> dict[str, Group]:
        """Every group by its absolute path, parents first; the root is ``/``."""
        nodes = self.hierarchy.walk()
        return {node.path: Group(self, node) for node in nodes if isinstance(node, GroupNode)}

    @property
    def arrays(self) -> dict[str, Array]:
        """Every array by its absolute path, in document order."""
        nodes = self.hierarchy.walk()
        return {node.path: Array(self, node) for node in nodes if isinstance(node, ArrayNode)}

    def _root(self) -> tuple[Dataset, Node]:
        return self, self.hierarchy.root

    @property
    def damage(self) -> tuple[Finding, ...]:
        """What is damaged in the source, and may have cost values; empty of a sound one."""
        return damage_of(self)

    def damage_at(self, *paths: str) -> tuple[Finding, ...]:
        """Return what is damaged that may concern what is at absolute paths or below: it may be gone, too."""
        return damage_of(self, paths)

    def with_access(self, access: Access) -> Dataset:
        """Return this dataset with other permissions; metadata is not read again."""
        from refbrowser.engine.lending import with_lent_codecs

        document, hierarchy = self.document, with_lent_codecs(self.hierarchy, access.lenders)
        return Dataset(self.path, document, hierarchy, access, self.session, self.elsewhere, self.identity)

    def moved(self, path: str, access: Access) -> Dataset:
        """Return this dataset under another path, with the permissions that it has there."""
        return Dataset(path, self.document, self.hierarchy, access, self.session, self.elsewhere)

    def with_document(self, document: Document, control: JobControl | None = None) -> Dataset:
        """Return the dataset that an edited document describes.

        Raises
        ------
        Cancelled
            Metadata that lies elsewhere was being read when `control` was cancelled.
        """
        from refbrowser.engine.metadata import described

        token = (control or JobControl()).token
        hierarchy, elsewhere = described(document, self.access, self.session, token, self.elsewhere)
        return Dataset(self.path, document, hierarchy, self.access, self.session, elsewhere, self.identity)

    def read_key(self, key: str, token: CancelToken | None = None) -> bytes:
        """Return the stored bytes of one key, undecoded; also ``messages/12`` and blobs of Awkward 0.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such key; else why its bytes cannot be read.
        """
        from refbrowser.engine.document_keys import reference_of, some_keys
        from refbrowser.formats.registry import format_named

        reference = reference_of(self.document, key) or self.document.reference_of_part(key)
        if reference is None:
            format = format_named(self.document.format)
            similar = _meant(_spelled_alike(key, some_keys(self.document)))
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"there is no key {quoted(key)}",
                Place(document=self.path),
                similar or ("" if format is None else format.parts),
            )
        with while_open(self):
            return self.session.read_reference(key, reference, self.access, token or CancelToken())

    def cdl(self, limit: int | None = None, token: CancelToken | None = None) -> str:
        """Return the dataset as CDL, in the notation of ``ncdump -h``; no data is read.

        Parameters
        ----------
        limit
            Of the characters; a longer text is cut at a line's end, and a comment says so.
        """
        from refbrowser.model.netcdf.dataset import netcdf_view

        lines: list[str] = []
        size = 0
        for line in self.cdl_lines(netcdf_view(self.hierarchy)):
            if token is not None:
                token.check()
            size += len(line)
            if limit is not None and size > limit:
                lines.append(f"// cut here: there is more than {limit} characters\n")
                break
            lines.append(line)
        return "".join(lines)

    def cdl_lines(self, view: NetcdfDataset) -> Iterator[str]:
        """Yield the lines of the CDL of the dataset, which is seen as `view`."""
        from refbrowser.formats.cdl.writer import cdl_lines

        # A URL may end with what is nobody's business.
        return cdl_lines(view, PurePosixPath(re.split("[?#]", self.path)[0]).stem)

    def store(self) -> ReferenceStore:
        """Return a read-only store for zarr-python: ``zarr.open(store)``, ``xarray.open_zarr(store)``."""
        from refbrowser.engine.store import ReferenceStore

        return ReferenceStore(self.path, self.document, self.hierarchy, self.access, self.session)

    def show(self, array: str = "") -> WindowProcess:
        """Open the window on the dataset and go on: a process of its own opens the path again.

        It has the same permissions, options and values of templates, and no credentials. What was edited here
        and not written is not shown, and a warning says so.

        Parameters
        ----------
        array
            Path of an array that is selected and plotted.

        Returns
        -------
        WindowProcess
            Whether it `is_open`; `wait` returns when it is closed, `close` closes it. It need not be kept.

        Raises
        ------
        NoSuchNodeError
            There is no such array.
        RefbrowserError
            `E_USAGE`: the dataset has no path that could be opened again, as it is in memory alone.
        NotInstalledError
            What draws the window is not installed; the advice is the line that installs it.
        NoDisplayError
            There is no display where this program runs.
        """
        return cast("WindowProcess", load("refbrowser.engine.window_command:show")(self, array))

    def close(self) -> None:
        """Close connections and threads; arrays cannot be read any more."""
        self.session.close()


class Group(_Members):
    """One group of a dataset: maps the names of its groups and arrays to them."""

    def __init__(self, dataset: Dataset, node: GroupNode) -> None:
        self.dataset = dataset
        self.node = node

    @property
    def path(self) -> str:
        """Absolute path."""
        return self.node.path

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Attributes; they are read-only."""
        return Attributes(self.node)

    @property
    def groups(self) -> dict[str, Group]:
        """Child groups by name."""
        return {name: Group(self.dataset, node) for name, node in self.node.groups.items()}

    @property
    def arrays(self) -> dict[str, Array]:
        """Child arrays by name."""
        return {name: Array(self.dataset, node) for name, node in self.node.arrays.items()}

    def _root(self) -> tuple[Dataset, Node]:
        return self.dataset, self.node


class Array(Displayed, ArrayProtocol):
    """One array of a dataset; indexing it reads."""

    def __init__(self, dataset: Dataset, node: ArrayNode) -> None:
        self.dataset = dataset
        self.node = node

    def __reduce__(self) -> Any:
        return load("refbrowser.engine.frozen_dataset:reduced")(self)

    @property
    def path(self) -> str:
        """Absolute path."""
        return self.node.path

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.node.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of elements along each dimension."""
        return self.node.shape

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the elements as stored; None when it is not known."""
        return self.node.dtype

    @property
    def chunks(self) -> tuple[int | tuple[int, ...], ...] | None:
        """Side of the chunks along each dimension; of unequal ones the sides of all, as Dask has them.

        None where it is not known how the array is divided. Asking for more than ten million unequal sides
        raises a `RefbrowserError` (`E_BUDGET`).
        """
        return None if not self.node.has_grid else self.node.grid.written_out

    @property
    def _grid(self) -> ChunkGrid | None:
        return self.node.grid if self.node.has_grid else None

    @property
    def dimensions(self) -> tuple[str | None, ...]:
        """Names of the dimensions, None for one without."""
        return self.node.dimensions

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Attributes; they are read-only."""
        return Attributes(self.node)

    @property
    def fill_value(self) -> Any:
        """What missing chunks hold; None when the metadata gives none."""
        return self.node.fill_value

    @property
    def damage(self) -> tuple[Finding, ...]:
        """What is damaged in the source, and may have cost values of this array; empty where nothing is."""
        return damage_of(self.dataset, (self.path,))

    def __getitem__(self, index: Any) -> Any:
        """Return the selected values as numpy does: an array, or a scalar where every axis has an integer.

        Integers, slices, ``...``, ``None``, lists and arrays of integers, and masks mean what they mean to
        numpy: negative ones count from the end, steps may be negative, ``array[[0, 2], [1, 3]]`` are two
        points, ``array[mask]`` the elements where a mask is true. Only chunks that hold selected elements are
        read. `oindex` takes each axis for itself. A single true or false, and the name of a field, are no
        indexes here.

        Raises
        ------
        IndexError
            The index does not fit; it is a `RefbrowserError` too. Nothing was read.
        RefbrowserError
            A chunk could not be read: it names chunk, URL, range and cause. It is a `FileNotFoundError` or a
            `PermissionError` too where it is one; a `ClosedError`, which is a `ValueError`, where the dataset
            was closed.
        """
        if is_basic(index):
            return self.read(Selection.from_index(index, self.shape))[()]
        from refbrowser.engine.indexing import read_index  # Most indexes are simple.

        with while_open(self.dataset):
            return read_index(self.dataset.session, self.node, self.dataset.access, index)

    @property
    def oindex(self) -> OuterIndex:
        """Index each axis for itself: ``array.oindex[[0, 2], [1, 3]]`` are two rows of two columns."""
        return OuterIndex(self)

    def selection(self, text: str) -> Selection:
        """Return the selection written in `text`, ``0,:,10:20:2``."""
        return Selection.from_text(text, self.shape)

    def read(self, selection: Selection, control: JobControl | None = None) -> npt.NDArray[Any]:
        """Return the values of a selection, with the result's axes (0-d where every axis is dropped)."""
        session, access = self.dataset.session, self.dataset.access
        if control is not None:
            return session.read(self.node, access, selection, cancel=control.token, progress=control.progress)
        with while_open(self.dataset):
            return session.read(self.node, access, selection)

    def _values(self, selection: Selection) -> npt.NDArray[Any]:
        return self.read(selection)

    def nested_rows(self, start: int, stop: int, control: JobControl | None = None) -> NestedRows:
        """Return rows of an array whose elements are nested, and what of them cannot be read.

        Raises
        ------
        RefbrowserError
            None of the rows can be read; `E_USAGE`: the elements are not nested.
        """
        from refbrowser.engine.nested.rows import read_rows

        token = None if control is None else control.token
        return read_rows(self.dataset.session, self.node, self.dataset.access, start, stop, token)

    def masked(self, index: Any = ..., control: JobControl | None = None) -> MaskedValues:
        """Return selected values of which some cannot be read: these are masked, and it is told why.

        Parameters
        ----------
        index
            As in ``array[index]``.

        Raises
        ------
        RefbrowserError
            Nothing of the array can be read.
        """
        selection = Selection.from_index(index, self.shape)
        errors: list[RefbrowserError] = []
        mask = np.zeros(selection.shape, bool)
        box = selection.box(mask)

        def note(ended: EndedPart) -> None:
            if ended.error is not None:
                errors.append(ended.error)
                place: tuple[Any, ...] = (*ended.part.target, ...)
                failed = ended.failed
                box[place] = True if failed is None else failed.reshape(-1, *(1,) * (box.ndim - 1))

        with while_open(self.dataset):
            values = self.dataset.session.read(
                self.node,
                self.dataset.access,
                selection,
                on_part=note,
                cancel=None if control is None else control.token,
            )
        return MaskedValues(np.ma.MaskedArray(values, mask), tuple(errors))

    def to_dask(self, chunks: Any = None, **options: Any) -> Any:
        """Return the array as a ``dask.array.Array``, read when it is computed, by processes too.

        ``dask.array.from_array(array)`` joins neighbouring chunks up to Dask's ``array.chunk-size``.

        Parameters
        ----------
        chunks
            As ``dask.array.from_array`` has them; the chunks in which it is stored when None.
        options
            Further ones of ``dask.array.from_array``.
        """
        require("dask")
        import dask.array

        default = self.chunks or self.shape
        return dask.array.from_array(self, chunks=default if chunks is None else chunks, **options)

    def to_awkward(self, start: int = 0, stop: int | None = None, *, skip_bad: bool = False) -> Any:
        """Return rows of any array, those of its first dimension, as an ``awkward.Array``.

        Parameters
        ----------
        skip_bad
            What of nested rows cannot be read is missing in them, and noted as a warning (`nested_rows`
            tells).

        Raises
        ------
        RefbrowserError
            Some of them cannot be read; with `skip_bad`: none can.
        """
        require("awkward")
        import awkward

        from refbrowser.engine.nested.plain_rows import content_of, row_type
        from refbrowser.engine.nested.rows import unread_error, warn_of

        stop = len(self) if stop is None else stop
        if self.node.nested is None:
            values = self.read(Selection.from_index(slice(start, stop), self.shape))
            return awkward.Array(content_of(values, row_type(self.node, values.shape)))
        rows = self.nested_rows(start, stop)
        error = unread_error(rows, self.node, start)
        if error is not None and not skip_bad:
            raise error
        if error is not None:
            warn_of(rows.faults, self.node, self.dataset.access)
        return awkward.Array(rows.content)

    def plan(self, selection: Selection) -> ReadPlan:
        """Return which requests a selection needs, without making any."""
        return self.dataset.session.plan(self.node, self.dataset.access, selection)


class OuterIndex:
    """Indexes each axis of an array for itself."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> Any:
        """Return the selected values; each axis has an integer, a slice, places or a mask of its own."""
        from refbrowser.engine.indexing import read_outer_index

        dataset = self._array.dataset
        with while_open(dataset):
            return read_outer_index(dataset.session, self._array.node, dataset.access, index)


@contextmanager
def while_open(dataset: Dataset) -> Iterator[None]:
    """Say that a dataset was closed where something is read of it, also while that goes on."""
    closed = ClosedError(
        ErrorKind.USAGE, "the dataset was closed", Place(document=dataset.path), "open it again"
    )
    if dataset.session.is_closed:
        raise closed
    try:
        with native_errors():
            yield
    except Cancelled:
        if dataset.session.is_closed:
            raise closed from None
        raise


class MaskedValues(NamedTuple):
    """Values of which some could not be read.

    Attributes
    ----------
    values
        Those that could not are masked, and have no meaning.
    errors
        Why, one error for each part.
    """

    values: np.ma.MaskedArray[Any, Any]
    errors: tuple[RefbrowserError, ...]
