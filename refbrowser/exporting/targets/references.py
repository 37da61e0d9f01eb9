"""Exporting to reference documents: Version 0, Version 1, and the parquet form."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.exporting.exporter import Target
from refbrowser.exporting.folder import TargetPlace
from refbrowser.exporting.nested.row_arrays import written_nodes
from refbrowser.exporting.request import ArrayChoice, ExportEstimate, ExportRequest, Loss, Tally
from refbrowser.exporting.rewritten_document import Rewriting, is_relative, rewritten
from refbrowser.exporting.saving.kerchunk_metadata import as_kerchunk_spells
from refbrowser.exporting.saving.portable_document import foreseen_losses, portable_document
from refbrowser.exporting.saving.save import not_written, with_consolidated, write_verified
from refbrowser.exporting.saving.url_spelling import (
    can_be_plain,
    lies_beside,
    named_beside,
    urls_of,
)
from refbrowser.exporting.source_losses import (
    damage,
    lost_in_json,
    masked_elsewhere,
    needed_elsewhere,
    unrecorded,
)
from refbrowser.exporting.targets.reference_options import (
    ReferenceOptions,
    check_options,
    with_inlined,
    with_spelled_urls,
)
from refbrowser.formats.references import document_chunks, open_references, packed_chunks
from refbrowser.formats.store_rules import RULES
from refbrowser.formats.zarr.documents import CONSOLIDATED_V2, METADATA_NAMES, split_key
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import in_object_store, scheme_of, split_url
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode, GroupNode, Node
from refbrowser.model.reference import Reference, ReferenceKind
from refbrowser.references.content.made_text import ROOT
from refbrowser.references.document.document import Document
from refbrowser.references.edits.edits import SetVersion
from refbrowser.references.rules.gen import RENDERED_ONLY, GenRule
from refbrowser.references.rules.rule_faults import find_faults

# Nearly half of what would be loaded is for few documents: those of object stores, and of parts of arrays.
if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.layout import ArrayLayout, StoreLayout
    from refbrowser.exporting.targets.bucket_place import BucketDocument
    from refbrowser.io.access.access import Access

#: Bytes of one entry of a Version 0 document, about.
ENTRY_BYTES = 100
PAGE = 65_536


class DocumentPlace(TargetPlace):
    """A document, which is given its name by what writes it."""

    @property
    def path(self) -> str:
        """Where it is written."""
        return str(self.target)

    def fill(self, work: Callable[[Any], object], *, resume: bool, force: bool) -> None:
        """Have `work` write and verify the document."""
        work(self)


def document_place(name: str, access: Access) -> DocumentPlace | BucketDocument:
    """Return where a document of a name is written: here, or in an object store."""
    if in_object_store(name):
        from refbrowser.exporting.targets.bucket_place import BucketDocument

        return BucketDocument.of(name, access)
    return DocumentPlace(name)


class ReferencesTarget(Target):
    """A reference document.

    Raises
    ------
    RefbrowserError
        A selection cuts through chunks, which references cannot say.
    """

    is_document: ClassVar[bool] = True
    #: Whether files that lie in the folder of the document, or below it, are named relative to it.
    names_beside: ClassVar[bool] = False

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        super().__init__(dataset, request)
        self.options = request.chosen(ReferenceOptions)
        check_options(self.options, dataset, request.format)
        self._place = dataset.document.places.get(ROOT, "")
        self._is_made, self._has_keys = dataset.document.rules_are_made, dataset.document.has_keys
        # A text that somebody wrote, or asked to be folded, keeps its templates and rules.
        self._is_plain = self._is_made and dataset.document.renders is None and not self.options.url_template
        self.is_relative = False
        self.document: Document = dataset.document
        self._stores: dict[str, StoreLayout] = {}
        self.layouts = list(self._layouts())
        self.losses: list[Loss] = list(damage(dataset, request))
        if not dataset.document.has_keys:
            nodes = written_nodes(dataset, request.arrays)
            self.losses += (*lost_in_json(nodes), *needed_elsewhere(nodes), *masked_elsewhere(nodes))
            self.losses += foreseen_losses(dataset)
        self.losses += unrecorded(dataset)

    def _layouts(self) -> Iterator[ArrayLayout]:
        """Yield the arrays of which a part is chosen."""
        for choice in self.request.arrays or ():
            if choice.selection is None:
                continue
            node = self.dataset.hierarchy.find(choice.path)
            assert isinstance(node, ArrayNode)
            if node.nested is not None:
                raise RefbrowserError(
                    ErrorKind.USAGE,
                    "rows of nested values cannot be selected for references",
                    Place(path=node.path),
                    "take the whole array, or export to zarr-v3 or parquet",
                )
            layout = self._store(node).layout(node, choice.selection)
            if not layout.copies_objects:
                raise RefbrowserError(
                    ErrorKind.USAGE,
                    "the selection cuts through chunks, which references cannot express",
                    Place(path=node.path),
                    "select whole chunks, or export to zarr-v3",
                )
            yield layout

    def _store(self, node: ArrayNode) -> StoreLayout:
        """Return what writes the metadata of an array in the format that it has."""
        flavour = self.dataset.hierarchy.flavour
        if not RULES[flavour].is_written:
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"parts of arrays of a {flavour.label} cannot be written as references",
                Place(path=node.path),
                "take the whole array, or export to zarr-v3",
            )
        from refbrowser.exporting.layout import layout_of
        from refbrowser.exporting.options import StoreOptions

        if node.format not in self._stores:
            self._stores[node.format] = layout_of(node.format, StoreOptions())
        return self._stores[node.format]

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost."""
        rows = self.document.expansion.refs_rows if self._keeps_rules else self.document.expansion.rows
        return ExportEstimate(rows, 0, 0, (rows + len(self.document.generated)) * ENTRY_BYTES)

    def place(self) -> DocumentPlace | BucketDocument:
        """Return where the document is written: in one step, by what writes it, or beside what is sent."""
        return document_place(self.name, self.dataset.access)

    def questions(self) -> Iterator[RefbrowserError]:
        """Yield the error of very many rows."""
        if self._keeps_rules:
            return
        expansion, is_v1 = self.document.expansion, self.request.format == "refs-v1"
        rows = expansion.rows - (expansion.refs_rows if is_v1 else 0)
        if rows > LIMITS.write_out_question:
            way = "give --template-share 0" if is_v1 else "export to refs-v1"
            yield RefbrowserError(
                ErrorKind.BUDGET,
                f"{rows} rows would be written, more than {LIMITS.write_out_question} (write_out_question)",
                advice=f"give --yes, or {way}, which keeps the rules",
            )

    @property
    def _keeps_rules(self) -> bool:
        """Whether rules may stay rules: those that somebody wrote, or asked for."""
        is_plain = self._is_plain and self.options.template_share is None
        return self.request.format == "refs-v1" and not is_plain

    def room(self, cost: ExportEstimate) -> int:
        """Return nothing: what a document takes is known once it is written."""
        return 0

    def write(self, made: DocumentPlace | BucketDocument, tally: Tally, control: JobControl) -> None:
        """Write the document as other software reads it."""
        try:
            self._write_whole(made, tally, control)
        except UnicodeEncodeError as error:
            message = "the name of a file is not UTF-8, which references require"
            advice = "rename the file, or open a link to it"
            raise RefbrowserError(
                ErrorKind.ENCODING, message, Place(document=self.dataset.path), advice
            ) from error

    def _write_whole(self, made: DocumentPlace | BucketDocument, tally: Tally, control: JobControl) -> None:
        made.token = control.token
        self._make_portable(control)
        document, skipped = self._document(control.token)
        if self._is_made and not self._has_keys:
            document = as_kerchunk_spells(document)
        if self.options.inline:
            document, lost = with_inlined(document, self.dataset, self.options.inline, control.token)
            self.losses += lost
        document = self._spelled(document)
        if self.request.format == "refs-parquet":
            tally.written_bytes = self._parquet(document, made.path, skipped, control)
        else:
            document, lost = with_consolidated(document, self.dataset.document.store)
            self.losses += lost
            tally.written_bytes = self._write(document, made.path, control)
        tally.skipped += skipped
        self.losses = list(dict.fromkeys(self.losses))
        tally.chunks = tally.copied = document.expansion.rows

    def verify(self, made: DocumentPlace | BucketDocument, tally: Tally, control: JobControl) -> int:
        """Return how many entries there are: they were read again before the document got its name."""
        return tally.chunks

    def prove(self, path: str, document: Document, token: CancelToken) -> None:
        """Look at a document that was written, before it gets its name; raises what speaks against it."""
        if self.request.format != "refs-parquet":
            again = open_references(path, values=document.templates.values, cancel=token)
            self.check_rows(again, document)

    def check_rows(self, again: Document, document: Document) -> None:
        """Raise `E_IO` where a document that was read again has not as many keys as what was written."""
        # Of rows with one key the last one is written out.
        may_be_fewer = self._is_plain and bool(document.rules)
        if self.request.format != "refs-v1" or may_be_fewer:
            return
        if again.expansion.rows != document.expansion.rows:
            raise not_written(self.request.target)

    # The document to be written

    def _spelled(self, document: Document) -> Document:
        """Return the document with files named as the options say; relative where it lies beside them."""
        options = self.options
        named = with_spelled_urls(document, options, self._place, self.name)
        self.is_relative = options.relative
        # Readers look for relative names of the parquet form in three places.
        chosen = options.relative or options.absolute or options.url_template
        if chosen or not (self.names_beside and self._is_made) or self.request.format == "refs-parquet":
            return named
        self.is_relative = lies_beside(named, self.name)
        return named_beside(named, self.name) if self.is_relative else named

    def _make_portable(self, control: JobControl) -> None:
        """Take the document of a store as other software reads it."""
        portable = portable_document(self.dataset, control)
        self.losses += portable.losses
        if portable.document is not self.document:
            nested = {node.path for node in self.dataset.hierarchy.walk() if _is_nested(node)}
            self.document = portable.document
            self.dataset = self.dataset.with_document(portable.document, control)
            self._choose_stored(nested)
            self.layouts = list(self._layouts())

    def _choose_stored(self, nested: set[str]) -> None:
        """Choose what the document describes: the buffers of nested values, and of fields all beside them."""
        if self.request.arrays is None or not nested:
            return
        chosen: dict[str, ArrayChoice] = {}
        for choice in self.request.arrays:
            path = choice.path
            while path in nested and self.dataset.hierarchy.find(path) is None:
                path = path.rpartition("/")[0]
            if path != choice.path:
                self.losses.append(Loss(choice.path, f"references have no fields: all of {path} is kept"))
            chosen[path] = replace(choice, path=path)
        self.request = replace(self.request, arrays=tuple(chosen.values()))

    def _document(self, token: CancelToken) -> tuple[Document, list[RefbrowserError]]:
        """Return the document with what was chosen, and URLs that hold at the target."""
        base = self._base()
        if in_object_store(self.name) and self._names_files(base):
            what = "it names files on this computer, which a document in a store may not do"
            self.losses.append(Loss("/", what))
        if base:
            self.losses.append(Loss("/", f"relative URLs were made absolute: they begin with {base}"))
        whole = self.request.arrays is None
        if whole and not base and not self.request.skip_bad:
            self._check_faults()
            return self.document, []
        how = Rewriting(base=base, skip_bad=self.request.skip_bad)
        if not whole:
            self._choose(how)
        return rewritten(self.document, how, token), how.skipped

    def _check_faults(self) -> None:
        for finding in self.document.findings:
            if finding.severity is Severity.FAULT:
                raise finding.error()
        for rule in self.document.rules:
            for finding in find_faults(rule):
                if finding.severity is Severity.FAULT:
                    raise finding.error()

    def _base(self) -> str:
        """Return what must stand before relative URLs at the target; empty where nothing need."""
        access = self.dataset.access
        if in_object_store(self.name):
            parts = split_url(self.name)
            folder = f"{parts.origin}/{parts.path}".rpartition("/")[0]
            stays = access.from_network and folder == access.base.rpartition("/")[0]
        else:
            folder = os.path.dirname(os.path.realpath(self.request.target))
            stays = not access.from_network and folder == access.base
        stays = stays and not self.options.absolute
        if stays or not any(map(is_relative, urls_of(self.document))):
            return ""
        if access.from_network:
            return access.base.rpartition("/")[0] + "/"
        return access.base.rstrip(os.sep) + os.sep

    def _names_files(self, base: str) -> bool:
        """Tell whether references lead to files of this computer."""
        is_here = bool(base) and not in_object_store(base) and scheme_of(base) in (None, "file")
        return is_here or any(
            not is_relative(url) and scheme_of(url) in (None, "file") for url in urls_of(self.document)
        )

    def _choose(self, how: Rewriting) -> None:
        """Keep the chosen arrays and the groups above them."""
        arrays = [choice.path.strip("/") for choice in self.request.arrays or ()]
        cut = {layout.source.path.strip("/") for layout in self.layouts}
        groups = {"", *(path[:at] for path in arrays for at, letter in enumerate(path) if letter == "/")}
        chosen = [self.dataset.hierarchy.find(path) for path in (*arrays, *groups)]
        # In the v3 drafts the keys of a node do not begin with its path.
        documents = {key for node in chosen if node is not None for key in node.metadata_keys}
        whole = [
            node.key_prefix
            for path, node in zip(arrays, chosen, strict=False)
            if path not in cut and isinstance(node, ArrayNode)
        ]
        # What is chosen as an array and is none are nested values: the group of their buffers.
        whole += [
            f"{path}/" for path, node in zip(arrays, chosen, strict=False) if isinstance(node, GroupNode)
        ]

        def keeps(key: str) -> bool:
            path, name = split_key(key)
            if key in documents or (name in METADATA_NAMES and (path in groups or path in cut)):
                return True
            return any(key.startswith(prefix) for prefix in whole)

        def stays(rule: GenRule) -> bool | None:
            folders = rule.directories()
            if folders is None:
                return None
            inside = [any(f"{folder}/".startswith(prefix) for prefix in whole) for folder in folders]
            return None if any(inside) and not all(inside) else any(inside)

        how.keeps, how.rule_stays = keeps, stays
        for layout in self.layouts:
            made = self._store(layout.source).metadata([], [layout])
            prefix = layout.source.path.strip("/") + "/"
            own = layout.source.metadata_keys
            how.metadata |= {key: data for key, data in made.items() if key.startswith(prefix) or key in own}
        how.metadata |= self._consolidated(keeps, how.metadata)
        how.added = self._chunks()

    def _consolidated(self, keeps: Callable[[str], bool], changed: dict[str, bytes]) -> dict[str, bytes]:
        """Return consolidated metadata with the entries that stay."""
        texts = {}
        for key in self.document.expansion.metadata_keys():
            folder, name = split_key(key)
            value = self.document.expansion.value(key)
            if name != CONSOLIDATED_V2 or value is None or not keeps(key):
                continue
            prefix = f"{folder}/" if folder else ""
            consolidated: dict[str, Any] = json.loads(value)
            consolidated["metadata"] = {
                entry: json.loads(changed[prefix + entry]) if prefix + entry in changed else facts
                for entry, facts in consolidated.get("metadata", {}).items()
                if keeps(prefix + entry)
            }
            texts[key] = json.dumps(consolidated).encode()
        return texts

    def _chunks(self) -> Iterator[tuple[str, Reference]]:
        """Yield the chunks of arrays of which a part is chosen, under their new keys."""
        from refbrowser.exporting.chunks import coords_between

        for layout in self.layouts:
            manifest = layout.source.manifest
            for start in range(0, layout.grid.size, PAGE):
                coords = coords_between(layout, start, min(start + PAGE, layout.grid.size))
                columns = manifest.columns(layout.source_coords(coords))
                keys = layout.keys(coords)
                for row in np.flatnonzero(columns.kind != ReferenceKind.MISSING).tolist():
                    yield keys[row], columns.reference(row)

    # Writing

    def _blocks(self, document: Document) -> Iterator[bytes]:
        if self.request.format == "refs-v0":
            text = document.expansion.to_version0(self.request.skip_bad)
            return packed_chunks(text, self.request.target)
        if document.version == 0:
            document = document.apply(SetVersion(1))
        if not self._is_plain:
            return document_chunks(document, self.request.target)
        if not can_be_plain(document) or self._is_smaller_with_templates(document):
            if document.rules:
                self.losses.append(Loss("/", RENDERED_ONLY))
            return document_chunks(document, self.request.target)
        return packed_chunks(document.to_plain_chunks(self.request.skip_bad), self.request.target)

    def _is_smaller_with_templates(self, document: Document) -> bool:
        """Tell whether templates and rules save the share of the size that was asked for."""
        share = self.options.template_share
        if not share:
            return share is not None
        plain = sum(map(len, document.to_plain_chunks(self.request.skip_bad)))
        return sum(map(len, document.to_chunks())) * 100 <= plain * (100 - share)

    def _write(self, document: Document, path: str, control: JobControl) -> int:
        def prove(made: str) -> None:
            self.prove(made, document, control.token)

        return write_verified(path, self._blocks(document), control, prove)

    def _parquet(
        self, document: Document, path: str, skipped: list[RefbrowserError], control: JobControl
    ) -> int:
        from refbrowser.formats.parquet_references import write_parquet

        return write_parquet(
            document,
            path,
            force=self.request.force,
            cancel=control.token,
            skip=skipped.append if self.request.skip_bad else None,
            prove=lambda made: self.prove(made, document, control.token),
        )


def _is_nested(node: Node) -> bool:
    return isinstance(node, ArrayNode) and node.nested is not None
