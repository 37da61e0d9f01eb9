"""Lines of Python that make a zarr store of a reference document, with fsspec."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from refbrowser.errors import RefbrowserError
from refbrowser.formats.registry import facet, form_named
from refbrowser.io.access.access import Access
from refbrowser.io.buckets.filesystems import storage_options
from refbrowser.io.origins import OBJECT_STORES, ConnectionSettings, Origin, local_path, scheme_of, split_url

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: fsspec writes every row of a gen rule out, about a millisecond each: above this refbrowser's store is used.
ROWS_WRITTEN_OUT = 20_000
_LOCAL = (None, "file")


@dataclass(frozen=True, slots=True)
class StoreCode:
    """Lines of Python that leave a read-only store in ``store``, and what they import."""

    lines: tuple[str, ...]
    modules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SnippetSource:
    """A document as its store needs it.

    Attributes
    ----------
    path
        Of the document: a path or a URL.
    urls
        URLs that its references point to; the static beginning is enough where a rule makes them.
    version
        0 or 1.
    rows
        Rows that gen rules make.
    is_templated
        There are templates or gen rules.
    compression
        ``gzip`` or ``zstd`` where the file is packed.
    is_folder
        It is the parquet form.
    values
        Values that the user gave for templates.
    is_edited
        There are edits that were not saved.
    is_store
        What is opened is a store, not a document that fsspec could read.
    own
        How software of its own opens it; None where that is left to this program.
    access
        Settings of the connections, and what is allowed.
    """

    path: str
    urls: Sequence[str]
    access: Access
    rows: int = 0
    is_templated: bool = False
    compression: str | None = None
    is_folder: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    is_edited: bool = False
    is_store: bool = False
    own: StoreCode | None = None

    @property
    def place(self) -> str:
        """The document's URL, or its path from the root: code may run in any folder."""
        path = local_path(self.path)
        return self.path if path is None else os.path.abspath(path)

    @property
    def is_opened_whole(self) -> bool:
        """Whether the lines open all of it: a store, or rules that fsspec could not write out."""
        return self.is_store or self.rows > ROWS_WRITTEN_OUT

    @property
    def is_remote(self) -> bool:
        """Whether the document lies on another machine."""
        return scheme_of(self.path) not in _LOCAL

    @property
    def schemes(self) -> list[str | None]:
        """The scheme of each kind of URL, None for paths; as fsspec parts them."""
        found = dict.fromkeys(scheme_of(url) for url in self.urls)
        return list(found)


def source_of(dataset: Dataset, urls: Iterable[str], *, is_edited: bool = False) -> SnippetSource:
    """Return what the store of a dataset needs; `urls` are those of its document."""
    document = dataset.document
    made = facet(document, "python")
    own = store_code(dataset) if made is None else made(dataset)
    return SnippetSource(
        path=dataset.path,
        urls=_one_of_each(urls),
        access=dataset.access,
        rows=sum(each.count for each in document.generated),
        is_templated=bool(document.templates.texts or document.rules),
        compression=None if document.packed is None else document.packed.kind,
        is_folder=document.from_parquet,
        values=dict(document.templates.values),
        is_edited=is_edited,
        is_store=document.store is not None or (own is not None and not document.has_keys),
        own=own,
    )


def store_code(dataset: Dataset) -> StoreCode | None:
    """Return lines that open a store of Zarr with zarr-python; None of other datasets, or where it cannot."""
    origin = dataset.document.store
    if origin is None or origin.folder or "zarr-python" not in form_named(dataset.document.format).readers:
        return None
    modules = frozenset({"import zarr"})
    if origin.container == "folder":
        return StoreCode(
            (f"store = zarr.storage.LocalStore({literal(origin.root)}, read_only=True)",), modules
        )
    if origin.container == "zip":
        return StoreCode((f'store = zarr.storage.ZipStore({literal(origin.root)}, mode="r")',), modules)
    scheme = scheme_of(origin.root)
    where = split_url(origin.root).origin
    settings = dataset.access.connection(where)
    if scheme not in OBJECT_STORES and (settings.headers or settings.has_login):
        return None
    options = storage_options(scheme, settings) if scheme in OBJECT_STORES else {}
    known = {key: value for key, value in options.items() if value}
    told = f", storage_options={literal(known)}" if known else ""
    line = f"store = zarr.storage.FsspecStore.from_url({literal(origin.root)}{told}, read_only=True)"
    return StoreCode((line,), modules)


def _one_of_each(urls: Iterable[str]) -> list[str]:
    """Return one URL of each origin, and one path."""
    found: dict[object, str] = {}
    for url in urls:
        try:
            key: object = scheme_of(url) and split_url(url).origin
        except RefbrowserError:
            continue
        found.setdefault(key, url)
    return list(found.values())


def can_hide(source: SnippetSource) -> bool:
    """Whether `store_lines` can leave arrays out: not where references are not all in memory."""
    return not source.is_opened_whole and not source.is_folder


def store_lines(
    source: SnippetSource, modules: set[str], group: str = "", hidden: Sequence[str] = ()
) -> list[str]:
    """Return lines that leave a read-only store in ``store``; what they import is added to `modules`.

    Parameters
    ----------
    group
        The root of the store: zarr lists only what lies in the root of fsspec's references.
    hidden
        Arrays of the group that are left out, where `can_hide` says that they can be.
    """
    notes = _edit_note(source)
    if source.own is not None:
        modules.update(source.own.modules)
        return [*notes, *source.own.lines]
    if source.is_store:
        return [*notes, f"store = {_opened(source, modules)}.store()"]
    if source.rows > ROWS_WRITTEN_OUT:
        # Rules that fsspec could not write out.
        told = f"# fsspec would write {source.rows:,} references out: refbrowser's store computes them."
        return [*notes, told, f"store = {_opened(source, modules)}.store()"]
    modules.add("import fsspec")
    lines = [*notes, *_templates_note(source), *_secrets_note(source), "fs = fsspec.filesystem("]
    lines += [f"    {argument}," for argument in _arguments(source, modules)]
    lines.append(")")
    if source.is_folder:
        lines.append('fs.references.engine = "pyarrow"  # instead of fastparquet')
    lines += _rebased(source, modules)
    lines += _hiding(group, hidden)
    modules.add("import zarr")
    lines.append(f"store = zarr.storage.FsspecStore(fs, read_only=True, path={literal(group)})")
    return lines


def dataset_lines(source: SnippetSource, modules: set[str]) -> list[str]:
    """Return lines that leave the dataset of refbrowser in ``dataset``; imports are added to `modules`."""
    return [*_edit_note(source), f"dataset = {_opened(source, modules)}"]


def _edit_note(source: SnippetSource) -> list[str]:
    note = "# The document has edits that are not saved: these lines read the file as it was."
    return [note] * source.is_edited


def _opened(source: SnippetSource, modules: set[str]) -> str:
    """Return the call that opens the document with refbrowser."""
    modules.add("import refbrowser")
    arguments = [literal(source.place)]
    allowed = sorted(str(origin) for origin in source.access.allowed)
    if allowed:
        arguments.append(f"allow={literal(allowed)}")
    if source.values:
        arguments.append(f"templates={literal(source.values)}")
    return f"refbrowser.open({', '.join(arguments)})"


def _templates_note(source: SnippetSource) -> list[str]:
    """Return lines about what fsspec does with templates, which this program never runs."""
    if not source.is_templated:
        return []
    return [
        "# fsspec gives the templates of the document to jinja2. Before fsspec 2026.6 they can run any code:",
        "# use an older one with documents that you trust alone.",
    ]


def _arguments(source: SnippetSource, modules: set[str]) -> list[str]:
    place = source.place
    if source.is_folder and not place.endswith("/"):
        place += "/"
    arguments = ['"reference"', f"fo={literal(place)}"]
    target = _target_options(source)
    if target:
        arguments.append(f"target_options={literal(target)}")
    if source.is_templated:
        arguments.append("simple_templates=False")
    if source.values:
        arguments.append(f"template_overrides={literal(source.values)}")
    arguments += _remote(source, modules)
    arguments.append("asynchronous=True")
    return arguments


def _target_options(source: SnippetSource) -> dict[str, Any]:
    options: dict[str, Any] = {}
    scheme = scheme_of(source.path)
    if scheme in OBJECT_STORES:
        options |= _connection_options(source, scheme, [split_url(source.path).origin])
    if source.compression is not None:
        options["compression"] = source.compression
    return options


def _remote(source: SnippetSource, modules: set[str]) -> list[str]:
    """Return the arguments that tell fsspec how to read what the references point to."""
    schemes = source.schemes
    here = scheme_of(source.path) if source.is_remote else "file"
    kinds = list(dict.fromkeys(here if scheme is None else scheme for scheme in schemes)) or [here]
    if source.is_folder and None in schemes and not source.is_remote:
        return _in_folder(source, modules, kinds)
    if len(kinds) == 1:
        kind = kinds[0]
        assert kind is not None
        arguments = [f"remote_protocol={literal(kind)}"]
        if kind != "file":
            options = {**_options_of(source, kind, modules), "asynchronous": True}
            arguments.append(f"remote_options={literal(options)}")
        return arguments
    entries = []
    for kind in kinds:
        assert kind is not None
        if kind == "file":
            modules.add("from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper")
            local = 'AsyncFileSystemWrapper(fsspec.filesystem("file"), asynchronous=True)'
            entries += [f"{literal(key)}: {local}" for key in (None, "file")]
        else:
            options = {**_options_of(source, kind, modules), "asynchronous": True}
            entries.append(f"{literal(kind)}: {literal(options)}")
    return [f"fs={{{', '.join(entries)}}}"]


def _in_folder(source: SnippetSource, modules: set[str], kinds: Iterable[str | None]) -> list[str]:
    """Return the arguments for the parquet form, whose relative URLs cannot be changed in memory."""
    modules.add("from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper")
    folder = os.path.dirname(source.place.rstrip("/"))
    below = f'fsspec.filesystem("dir", path={literal(folder)}, target_protocol="file")'
    entries = [f"None: AsyncFileSystemWrapper({below}, asynchronous=True)"]
    for kind in kinds:
        if kind not in _LOCAL and kind is not None:
            options = {**_options_of(source, kind, modules), "asynchronous": True}
            entries.append(f"{literal(kind)}: {literal(options)}")
    return [f"fs={{{', '.join(entries)}}}"]


def _rebased(source: SnippetSource, modules: set[str]) -> list[str]:
    """Return lines that make relative URLs absolute: fsspec takes them from the current folder."""
    if None not in source.schemes or source.is_folder:
        return []
    note = "# Relative URLs start at the folder of the document."
    lines = [note, "for reference in fs.references.values():"]
    if source.is_remote:
        modules.add("from urllib.parse import urljoin")
        return [
            *lines,
            "    if isinstance(reference, list):",
            f"        reference[0] = urljoin({literal(source.place)}, reference[0])",
        ]
    modules.add("import os")
    return [
        *lines,
        '    if isinstance(reference, list) and "://" not in reference[0]:',
        f"        reference[0] = os.path.join({literal(source.access.base)}, reference[0])",
    ]


def _hiding(group: str, names: Sequence[str]) -> list[str]:
    """Return lines that take arrays out of fsspec's references."""
    if not names:
        return []
    folders = tuple("/".join(filter(None, (group, name))) + "/" for name in names)
    return [
        "# Arrays that xarray cannot read: their dimensions have no names, or their metadata is faulty.",
        f"hidden = {literal(folders if len(folders) > 1 else folders[0])}",
        "for key in [key for key in fs.references if key.startswith(hidden)]:",
        "    del fs.references[key]",
    ]


# How to connect


class _Code(str):
    """Text that stands in the code as it is."""


def _origins(source: SnippetSource, scheme: str) -> list[Origin]:
    """Return the origins of a scheme that the document points to."""
    found: dict[Origin, None] = {}
    for url in [*source.urls, *([source.path] if source.is_remote else [])]:
        if scheme_of(url) == scheme:
            try:
                found[split_url(url).origin] = None
            except RefbrowserError:
                continue
    return list(found)


def _options_of(source: SnippetSource, scheme: str, modules: set[str]) -> dict[str, Any]:
    origins = _origins(source, scheme)
    if scheme in OBJECT_STORES:
        return _connection_options(source, scheme, origins)
    headers = source.access.connection(origins[0]).headers if len(origins) == 1 else {}
    if not headers:
        return {}
    modules.add("import os")
    values = {name: _Code(f"os.environ[{literal(variable)}]") for name, variable in headers.items()}
    return {"client_kwargs": {"headers": values}}


def _connection_options(source: SnippetSource, scheme: str, origins: Sequence[Origin]) -> dict[str, Any]:
    settings = next((source.access.connection(origin) for origin in origins), ConnectionSettings())
    return {key: value for key, value in storage_options(scheme, settings).items() if value}


def _secrets_note(source: SnippetSource) -> list[str]:
    """Return lines about logins, and headers that are left out, lest fsspec sends them to other hosts."""
    logged = [
        origin
        for scheme in ("http", "https", "s3")
        for origin in _origins(source, scheme)
        if source.access.connection(origin).has_login
    ]
    if logged:
        return [f"# The login for {logged[0]} is left out: fsspec has none that goes to one host alone."]
    hosts = [origin for scheme in ("http", "https") for origin in _origins(source, scheme)]
    with_headers = [origin for origin in hosts if source.access.connection(origin).headers]
    if len(hosts) < 2 or not with_headers:
        return []
    return [f"# Headers for {with_headers[0]} are left out: fsspec would send them to every host."]


def literal(value: Any) -> str:
    """Return a text, number or collection as Python writes it, with double quotes."""
    if isinstance(value, _Code):
        return str(value)
    if isinstance(value, str):
        written = repr(value)
        return f'"{written[1:-1]}"' if written[0] == "'" and '"' not in written else written
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(key)}: {literal(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        inner = ", ".join(map(literal, value))
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)
