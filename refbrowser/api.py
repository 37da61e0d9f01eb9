"""What ``import refbrowser`` gives to programs of one dataset, and what functions of tools begin with.

What tools do is in their modules `public`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, Literal

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset, open_document
from refbrowser.errors import ErrorKind, RefbrowserError, native_errors, quoted
from refbrowser.formats.format import Opened
from refbrowser.references.document.document import Document, ReferenceDocument

if TYPE_CHECKING:
    from refbrowser.manifest_documents import VirtualSource

Path = str | os.PathLike[str]
StorageOptions = Iterable[str] | Mapping[str, Any]
#: Who is told how far work is: a function of a program; verbs and jobs can be cancelled, too.
Progress = Callable[..., None] | JobControl


@native_errors()
def open(
    path: Path | OpenRequest | Mapping[str, Any] | IO[bytes] | VirtualSource,
    *,
    allow: Iterable[str] = (),
    allow_codecs: Iterable[str] = (),
    storage_options: StorageOptions = (),
    templates: Mapping[str, str] | None = None,
    stale: str = "refuse",
    progress: Progress | None = None,
    **options: Any,
) -> Dataset:
    """Open a dataset.

    Parameters
    ----------
    path
        A local path or a URL of a reference document, a store, a stream or a file of data; references as a
        dictionary, as kerchunk gives them; a binary file object; or what VirtualiZarr holds in memory: a
        ManifestStore, or a virtual Dataset or DataTree of xarray. What has no path lies in no folder:
        whatever its references lead to needs a permission. A file object without a path is copied first. Or a
        `refbrowser.engine.opening.OpenRequest`, which says all that is said here, and what sizes are asked
        about.
    allow
        Origins (``https://host``, a folder) that the document may read from besides its own folder.
    allow_codecs
        Codecs that installed packages have registered with zarr or numcodecs, or such packages with all
        theirs: they decode in a process of their own. Other codecs than ours decode nothing else.
    storage_options
        Connection settings, ``ORIGIN:KEY=VALUE``; or as fsspec spells them, ``{"anon": False}``, for what is
        opened and allowed, and ``{"s3://bucket": {"anon": False}}`` for one origin.
    templates
        Values for templates of the document; used, never saved.
    stale
        What becomes of files that are not those of the lock beside the document: ``refuse``, reads that need
        them fail; ``allow``, they are read, and `dataset.access.memory.warnings` names each; ``ignore``, no
        lock is looked for.
    progress
        Called as `progress(done, total, ...)` while a path or URL is opened.
    options
        What its format lets one choose; None for what is usual. ``flavour`` opens a store as ``zarr-v2``,
        ``zarr-v3``, ``nczarr``, ``zarr-v3-draft`` or ``zarr-v3-draft-2020``, whatever it looks like;
        ``byte_order`` is that of the numbers of a stream: ``big``, ``little``, or ``flag`` to do just as its
        messages say; ``until`` shows a stream as it was after the message of this number;
        ``allow_functions`` are functions of ours that a file of Awkward 0 may use beside the usual ones;
        ``grib`` is the GRIB file of an index, or its folder with a slash at its end, and ``messages`` shows
        what the index lists as a table.
        Formats of other packages have their own.

    Raises
    ------
    RefbrowserError
        It cannot be read, or it is of no known format; or it has no template that a value is given for.
        Where nothing is there it is a `FileNotFoundError` too, where it may not be read a `PermissionError`.

    Examples
    --------
    >>> import refbrowser
    >>> with refbrowser.open("sea_surface.json") as dataset:
    ...     print(dataset.array("/ocean/sst").shape)
    (12, 180, 360)
    """
    if isinstance(path, OpenRequest):
        return open_dataset(path, control_of(progress))
    said = {name: each for name, each in options.items() if each is not None}
    allowed = texts_of(allow)
    settings = settings_of(storage_options, [path, *allowed])
    request = OpenRequest("", allowed, settings, dict(templates or {}), said, stale=stale)
    request = replace(request, allow_codecs=texts_of(allow_codecs))
    if isinstance(path, str | os.PathLike):
        return open_dataset(replace(request, path=path_of(path)), control_of(progress))
    source: Any = path
    if hasattr(source, "read") and hasattr(source, "seekable"):
        from refbrowser.engine.unnamed_sources import open_stream

        return open_stream(source, request)
    unused = said if isinstance(source, dict) else {**said, **(templates or {})}
    if unused:
        message = f"a source in memory has neither options of opening nor templates: {quoted(min(unused))}"
        raise RefbrowserError(ErrorKind.USAGE, message)
    if isinstance(source, dict):
        from refbrowser.engine.unnamed_sources import open_references_in

        return open_references_in(source, replace(request, path="references"))
    from refbrowser.manifest_documents import open_virtual

    return open_virtual(source, allowed, settings, request.allow_codecs)


@native_errors()
def with_attributes(dataset: Dataset, path: str, attributes: Mapping[str, Any]) -> Dataset:
    """Return a dataset in which a group or array has other attributes; neither files nor `dataset` change.

    Parameters
    ----------
    path
        Of the group or array; ``/`` is the root.
    attributes
        New values by name: texts, numbers, lists of numbers. None removes an attribute; others stay.

    Returns
    -------
    Dataset
        It shares connections with `dataset`; `export` writes it.

    Raises
    ------
    RefbrowserError
        There is no such group or array, or its metadata cannot be edited.

    Examples
    --------
    >>> import refbrowser
    >>> dataset = refbrowser.open("sea_surface.json")
    >>> edited = refbrowser.with_attributes(dataset, "/ocean/sst", {"units": "degC"})
    >>> edited.array("/ocean/sst").attrs["units"]
    'degC'
    """
    from refbrowser.engine.attribute_edits import dataset_with

    return dataset_with(dataset, path, attributes)


@native_errors()
def with_packing(dataset: Dataset, path: str, packing: Literal["codecs", "attributes"]) -> Dataset:
    """Return a dataset in which an array of Zarr v3 says in another way how its numbers are packed.

    What is stored stays, and so do references; values may differ in the last bits.

    Parameters
    ----------
    path
        Of the array.
    packing
        ``codecs`` makes the attributes ``scale_factor`` and ``add_offset`` the codecs ``scale_offset`` and
        ``cast_value``, ``attributes`` the other way round.

    Returns
    -------
    Dataset
        It shares connections with `dataset`; `export` writes it.

    Raises
    ------
    RefbrowserError
        There is no such array; it is not of Zarr v3, or its packing cannot be said so.

    Examples
    --------
    >>> import refbrowser
    >>> dataset = refbrowser.open("sea_surface.json")
    >>> _ = refbrowser.export(dataset, "sea.zarr", format="zarr-v3", arrays=["/ocean/sst"])
    >>> packed = refbrowser.with_packing(refbrowser.open("sea.zarr"), "/ocean/sst", "codecs")
    >>> packed.array("/ocean/sst").dtype
    dtype('<f8')
    """
    from refbrowser.views.editing.packing_change import dataset_with_packing

    return dataset_with_packing(dataset, path, packing)


def document_of(
    document: Path | Dataset | Opened | Document | Mapping[str, Any], values: dict[str, str]
) -> Document:
    """Return the document that something is, with values for its templates."""
    if isinstance(document, Dataset | Opened):
        document = document.document
    if isinstance(document, Mapping):
        document = ReferenceDocument.of(json.dumps(document).encode())
    if isinstance(document, Document):
        document.check_values(values)
        return document.with_template_values({**document.templates.values, **values}) if values else document
    return open_document(OpenRequest(path_of(document), templates=values)).document


def dataset_of(dataset: Dataset | Path, allow: Iterable[str], **how: Any) -> AbstractContextManager[Dataset]:
    """Return what gives a dataset, and closes it where it was opened here, as `open` has `how`."""
    return nullcontext(dataset) if isinstance(dataset, Dataset) else open(dataset, allow=allow, **how)


def control_of(progress: Progress | None) -> JobControl:
    """Return a control that tells each progress to a function, or the one that a verb or a job brings."""
    if isinstance(progress, JobControl):
        return progress
    if progress is None:
        return JobControl()

    def publish(changes: dict[str, Any]) -> None:
        progress(
            changes.get("done", 0),
            changes.get("total"),
            read_bytes=changes.get("read_bytes", 0),
            requests=changes.get("requests", 0),
        )

    return JobControl(publish=publish)


def path_of(path: Path) -> str:
    """Return a path as text, with a ``~`` at its beginning replaced unless something is called so."""
    text = os.fspath(path)
    return os.path.expanduser(text) if text.startswith("~") and not os.path.lexists(text) else text


def settings_of(options: StorageOptions, named: Iterable[Any]) -> tuple[str, ...]:
    """Return storage options of either spelling as texts; those without an origin are for what is named."""
    if not isinstance(options, Mapping):
        return texts_of(options)
    from refbrowser.io.origins import option_texts

    return option_texts(options, [os.fspath(each) for each in named if isinstance(each, str | os.PathLike)])


def texts_of(items: Iterable[str]) -> tuple[str, ...]:
    """Return texts, of which one may be given alone."""
    return (items,) if isinstance(items, str) else tuple(items)
