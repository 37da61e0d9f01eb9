"""Exporting to a store of any format."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from refbrowser.engine.frozen_dataset import why_here
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading_kinds import reading_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting import check_child
from refbrowser.exporting.blocks import TASK_OBJECTS, element_size
from refbrowser.exporting.check import (
    Answers,
    CheckItem,
    CheckReport,
    Program,
    ask_program,
    compared,
    compared_attributes,
    compared_boxes,
    first_difference,
    scope_of,
)
from refbrowser.exporting.chunks import ArrayExport, Away, Sink, estimated
from refbrowser.exporting.exporter import LeftOut, Target
from refbrowser.exporting.folder import SPOOL, TargetFolder
from refbrowser.exporting.journal import Journal
from refbrowser.exporting.layout import ArrayLayout, layout_of, plain_names
from refbrowser.exporting.nested.row_arrays import as_complete, chosen_nodes, groups_above, is_plain
from refbrowser.exporting.nested.store_part import CHUNK_SIZE, GATHERED, Gathered, NestedPart, gather
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.paths import check_collisions
from refbrowser.exporting.request import (
    ExportEstimate,
    ExportRequest,
    Loss,
    Tally,
)
from refbrowser.exporting.source_losses import damage, lost_in_json, unread_attributes
from refbrowser.exporting.targets.bucket_place import BucketPlace
from refbrowser.exporting.tasks import carry_out
from refbrowser.exporting.verify import (
    CompareSink,
    JournalSink,
    differing,
    verify_chunks,
    verify_metadata,
)
from refbrowser.exporting.workers.export_order import WorkOrder
from refbrowser.exporting.zip_file import TargetZip
from refbrowser.io.buckets.filesystems import options_with_secrets
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.hidden_siblings import folder_beside
from refbrowser.io.files.own_names import remove
from refbrowser.io.origins import in_object_store, split_url
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode, Node
from refbrowser.model.selection import Selection
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


AnyPlace = TargetFolder | TargetZip | BucketPlace


class StoreTarget(Target):
    """A store: planned when it is made.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set), or names collide.
    """

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        super().__init__(dataset, request)
        self.options = self.store_options()
        self.store = layout_of(request.format, self.options, plain_names(dataset))
        self._check_chosen()
        self.nested: list[NestedPart] = []
        self._task_objects = TASK_OBJECTS
        self.left_out = LeftOut(request)
        self._plain = list(self._planned())
        self.skipped = self.left_out.skipped
        self.left_out.check_rest(len(self._plain) + len(self.nested))
        paths = [layout.source.path for layout in self._plain] + [part.path for part in self.nested]
        self._above = groups_above(dataset, paths, whole=request.arrays is None)
        self._settle([part.group for part in self.nested], [])

    def store_options(self) -> StoreOptions:
        """Return how the store is to be laid out."""
        return self.request.chosen(StoreOptions)

    def _settle(self, groups: list[GroupNode], added: list[ArrayLayout]) -> None:
        """Take note of all groups and arrays of the target: those of nested arrays are known late."""
        self.groups = [*self._above, *groups]
        self.layouts = self.store.settled(self.groups, [*self._plain, *added])
        self.exports = [ArrayExport(layout, self._task_objects) for layout in self.layouts]
        of_arrays = (loss for layout in self.layouts for loss in layout.losses)
        of_nested = (loss for part in self.nested for loss in part.losses)
        of_groups = self.store.losses(self.groups)
        of_damage = damage(self.dataset, self.request)
        self.losses: tuple[Loss, ...] = (
            *of_damage,
            *self.left_out.losses,
            *self._of_source(),
            *of_groups,
            *of_arrays,
            *of_nested,
        )
        self.metadata = self.store.metadata(self.groups, self.layouts)

    def _of_source(self) -> Iterator[Loss]:
        """Yield what is lost that the target could hold if it were known, and types of attributes."""
        nodes: list[Node] = [
            *self._above,
            *(part.source.node for part in self.nested),
            *{layout.source.path: layout.source for layout in self.layouts}.values(),
        ]
        yield from unread_attributes(self.dataset.hierarchy, nodes)
        if self.store.flavour != Flavour.NCZARR:
            yield from lost_in_json(nodes)

    def _planned(self) -> Iterator[ArrayLayout]:
        for node, selection in self._chosen():
            try:
                if is_plain(node):
                    yield from self.store.layouts(as_complete(node), selection)
                else:
                    skip_bad, flavour = self.request.skip_bad, self.store.flavour
                    self.nested.append(NestedPart.of(node, selection, flavour, skip_bad=skip_bad))
            except RefbrowserError as error:
                self.left_out.add(error.at(replace(error.place, path=node.path)))

    def _check_chosen(self) -> None:
        """Raise `E_USAGE` where chunks are chosen for what is not exported."""
        paths = {node.path for node, _ in self._chosen()}
        for path in self.options.array_chunks:
            if path not in paths:
                raise RefbrowserError(
                    ErrorKind.USAGE, "chunk options name an array that is not exported", Place(path=path)
                )

    def _chosen(self) -> Iterator[tuple[ArrayNode, Selection | None]]:
        yield from chosen_nodes(self.dataset.hierarchy, self.request.arrays)

    @property
    def arrays(self) -> int:
        """How many arrays are written: those of nested values count as one."""
        return len(self._plain) + len(self.nested)

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; reads references, no data."""
        found = estimated(self.exports, token)
        # How many buffers' elements there are only their values tell.
        size = sum(part.size for part in self.nested)
        return replace(
            found,
            chunks=found.chunks + -(-size // CHUNK_SIZE),
            source_bytes=found.source_bytes + size,
            target_bytes=found.target_bytes + size,
            spool_bytes=found.spool_bytes + size,
        )

    def check_place(self, place: AnyPlace) -> None:
        """Raise where the target is there, or cannot have these names."""
        super().check_place(place)
        nodes = [self.store.group_path(group) for group in self.groups]
        nodes += [layout.target.path for layout in self.layouts]
        folders = [path.strip("/") + "/" for path in nodes if path != "/"]
        check_collisions(folders, ignore_case=place.ignores_case)

    def questions(self) -> Iterator[RefbrowserError]:
        """Yield the errors of very many chunks, and of large ones."""
        count = sum(layout.grid.size for layout in self.layouts)
        if count > LIMITS.write_out_question:
            yield RefbrowserError(
                ErrorKind.BUDGET,
                f"the export has {count} chunks, more than {LIMITS.write_out_question} (write_out_question)",
                advice="give --yes, or choose arrays and selections",
            )
        for layout in self.layouts:
            large = None if layout.copied is not None else reading_of(layout.source).chunk_question()
            if large is not None:
                yield large

    @classmethod
    def check(cls, dataset: Dataset, request: ExportRequest, control: JobControl) -> CheckReport:
        """Read a store with the programs that know its format, and compare it with the source."""
        if in_object_store(request.target):
            beside = Path(tempfile.gettempdir(), "refbrowser")
        else:
            beside = Path(os.path.realpath(request.target))
        with folder_beside(beside) as folder:
            return _Check(dataset, request, control, folder / GATHERED).report()

    def split(self, most: int) -> None:
        """Let tasks make so many objects at most, where smaller ones have the source read as often."""
        self._task_objects = most
        self.exports = [ArrayExport(layout, most) for layout in self.layouts]

    def why_here(self) -> str:
        """Return why no other processes can work on it; empty where they can."""
        if self.options.container == "zip":
            return "a zip file is written by one process"
        return why_here(self.dataset)

    def partly_here(self) -> str:
        """Return which arrays no other processes can work on."""
        spooled = sum(array.plan.spooled for array in self.exports)
        found = [(len(self.nested), "nested values"), (spooled, "chunks from an intermediate store")]
        return " and ".join(f"{counted_plain(count, 'array')} of {what}" for count, what in found if count)

    def metadata_digest(self) -> str:
        """Return what tells the metadata that is written from others."""
        return hashlib.sha256(
            json.dumps([[key, data.hex()] for key, data in self.metadata.items()]).encode()
        ).hexdigest()

    @contextmanager
    def _team(self, made: Any) -> Iterator[Away | None]:
        """Give those who work on it in other processes, where there are some."""
        if self.executor is None:
            yield None
            return
        from refbrowser.exporting.workers.team import Team, task_objects

        most, run = task_objects(sum(layout.grid.size for layout in self.layouts)), uuid4().hex
        order = WorkOrder.of(
            self.dataset,
            self.request,
            run=run,
            most=most,
            fingerprint=self.fingerprint(),
            metadata=self.metadata_digest(),
        )
        self.split(most)
        with made.hosting(run):
            yield Team(self.executor, order)

    def place(self) -> AnyPlace:
        """Return the folder, the zip file or the part of an object store that is made."""
        if self.options.container == "zip":
            return TargetZip(self.name, self.options.zip_folder)
        if in_object_store(self.name):
            return BucketPlace.of(self.name, self.dataset.access)
        return TargetFolder(self.name)

    def room(self, cost: ExportEstimate) -> int:
        """Return the bytes that must be free on the disk."""
        return cost.spool_bytes if in_object_store(self.name) else super().room(cost)

    def _lines_to_open(self) -> tuple[str, ...]:
        """Return how zarr-python opens what its name does not lead to: since 3.4 a name ends at a ``#``."""
        is_read = "zarr-python" in _PROGRAMS.get(self.store.flavour, ())
        if "#" not in self.name or in_object_store(self.name) or not is_read:
            return ()
        is_zip = self.options.container == "zip"
        kind, mode = ("ZipStore", 'mode="r"') if is_zip else ("LocalStore", "read_only=True")
        folder = self.options.zip_folder.strip("/") if is_zip else ""
        path = f", path={folder!r}" if folder else ""
        return (
            "import zarr",
            f"from zarr.storage import {kind}",
            "",
            f'root = zarr.open({kind}({self.name!r}, {mode}){path}, mode="r")',
        )

    def write(self, made: AnyPlace, tally: Tally, control: JobControl) -> None:
        """Write metadata and chunks; what an earlier run has written stays."""
        tally.skipped = list(self.skipped)
        self.opened_by = self._lines_to_open()
        with closing(Journal(made.partial, self.fingerprint())) as journal, self._team(made) as team:
            made.begin(journal.entries())
            made.token = control.token
            gathered = self.gather(made.partial / GATHERED, control)
            self._places = made.described(self.metadata)
            self._carry_out(JournalSink(made, journal), made.spool, tally, control, team)
            gathered.tell(tally)
            remove(made.partial / GATHERED)
            pool = self.dataset.session.pool
            self._verified = verify_chunks(made, journal, self.exports, pool, control.token, team)
            self._places |= made.concluded(self.metadata, journal.entries())

    def verify(self, made: AnyPlace, tally: Tally, control: JobControl) -> int:
        """Read metadata again; chunks were compared while their hashes were known."""

        def text(key: str) -> bytes:
            stored = made.stored(key, self._places[key])
            return stored.read_at(0, stored.size)

        with ThreadPoolExecutor(made.at_once, "verify") as pool:
            self._verify_metadata(dict(zip(self._places, pool.map(text, self._places), strict=True)))
        return self._verified

    def compared(self, place: AnyPlace, control: JobControl) -> Tally | None:
        """Verify a complete target against the source; None where there is none."""
        if not place.exists or place.is_begun:
            return None
        complete, tally = place.complete(), Tally(skipped=list(self.skipped))
        sink = CompareSink(complete)
        with folder_beside(place.beside / "verified") as folder:
            gathered = self.gather(folder / GATHERED, control)
            self._carry_out(sink, folder / SPOOL, tally, control)
            gathered.tell(tally)
        if sink.different:
            advice = "--force writes the target again"
            raise differing(sorted(sink.different), sink.compared, str(place.target), advice)
        try:
            written = {key: complete.stored(key) for key in self.metadata}
            self._verify_metadata({key: stored.read_at(0, stored.size) for key, stored in written.items()})
        except OSError as error:
            raise RefbrowserError(
                ErrorKind.IO, f"cannot read: {error.strerror or error}", Place(path=str(place.target))
            ) from error
        tally.verified, tally.resumed = sink.compared, sink.compared
        tally.chunks = tally.copied = tally.written_bytes = 0
        return tally

    def gather(self, folder: Path, control: JobControl) -> Gathered:
        """Read nested arrays into files of a folder, of which chunks are made as of any array.

        Raises
        ------
        RefbrowserError
            Something cannot be read.
        OSError
            The files cannot be written.
        """
        if not self.nested:
            return Gathered()
        remove(folder)
        gathered = gather(self.dataset, self.nested, folder, control, skip_bad=self.request.skip_bad)
        self.nested = [filled.part for filled in gathered.parts]
        layouts = [filled.layouts(self.store) for filled in gathered.parts]
        self._settle([filled.group for filled in gathered.parts], [each for some in layouts for each in some])
        at = len(self._plain)
        for filled, some in zip(gathered.parts, layouts, strict=True):
            filled.feed(self.exports[at : at + len(some)])
            at += len(some)
        return gathered

    def _carry_out(
        self, sink: Sink, spool: Path, tally: Tally, control: JobControl, away: Away | None = None
    ) -> None:
        carry_out(
            self.dataset,
            self.exports,
            sink,
            spool,
            tally,
            control,
            skip_bad=self.request.skip_bad,
            away=away,
        )

    def _verify_metadata(self, texts: dict[str, bytes]) -> None:
        verify_metadata(texts, self.groups, self.layouts, self.store)

    def fingerprint(self) -> str:
        """Return what tells this export from others, so that one like it can go on."""
        facts = [
            [
                layout.source.path,
                layout.target.path,
                [[taken.start, taken.stop, taken.step] for taken in layout.selection.axes],
                sorted(layout.selection.dropped),
                layout.grid.spelling,
                str(layout.target.dtype),
                layout.copied is not None,
            ]
            for layout in self.layouts
        ]
        facts += [[part.path, repr(part.source.selection), part.source.length] for part in self.nested]
        options = self.options.as_json()
        text = json.dumps([self.request.format, self.dataset.path, options, facts])
        return hashlib.sha256(text.encode()).hexdigest()


#: Which programs read a flavour, and the module that each is.
_PROGRAMS = {
    Flavour.ZARR_V2: ("zarr-python",),
    Flavour.ZARR_V3: ("zarr-python",),
    Flavour.NCZARR: ("netCDF4", "zarr-python"),
}
_MODULES = {"zarr-python": "zarr", "netCDF4": "netCDF4"}
#: A program that crashes is started again for the arrays after the one that it crashed at, so many times.
_RESTARTS = 5
#: netcdf-c says so of a zip file where it was built without libzip.
_LACKS = "feature that was not turned on"


class _Check:
    def __init__(self, dataset: Dataset, request: ExportRequest, control: JobControl, folder: Path) -> None:
        self.dataset = dataset
        self.request = request
        self.control = control
        self.export = StoreTarget(dataset, request)
        self.export.gather(folder, control)
        self.gathered = {
            array.layout.target.path: array.spool for array in self.export.exports if array.spool is not None
        }
        self.layouts = {layout.target.path: layout for layout in self.export.layouts}
        self.boxes = {path: _boxes_of(layout) for path, layout in self.layouts.items()}
        self.digests: dict[tuple[str, str], list[str]] = {}

    def report(self) -> CheckReport:
        """Run every program, and compare."""
        flavour, notes = self.export.store.flavour, []
        names = _PROGRAMS.get(flavour, ())
        if not names:
            notes.append(
                f"zarr-python and netCDF4 do not read {flavour.label}: nothing was checked with them"
            )
        programs: list[Program] = []
        items: list[CheckItem] = []
        for name in names:
            if name == "netCDF4" and in_object_store(self.request.target):
                notes.append("netCDF4 does not read from object stores here: nothing was checked with it")
                continue
            if find_spec(_MODULES[name]) is None:
                notes.append(f"{name} is not installed: nothing was checked with it")
                continue
            answers = self._ask(name)
            if not answers.nodes and any(_LACKS in failure for failure in answers.failures.values()):
                notes.append(f"this build of {name} cannot read such a store: nothing was checked with it")
                continue
            programs.append(Program(name, answers.version or "of unknown version"))
            items += self._compared(name, answers)
        return CheckReport(tuple(programs), tuple(items), tuple(notes))

    # Asking

    def _ask(self, program: str) -> Answers:
        """Return what a program reads; what makes it crash is one of its answers."""
        answers = Answers()
        arrays = list(self.boxes)
        for _ in range(_RESTARTS + 1):
            told = self._run(program, answers, arrays, show=False)
            if not told:
                return answers
            answers.failures[answers.at] = told
            if answers.at not in arrays:
                return answers
            arrays = arrays[arrays.index(answers.at) + 1 :]
        for path in arrays:
            answers.failures[path] = "not read: the program crashed too often"
        return answers

    def _run(self, program: str, answers: Answers, arrays: list[str], *, show: bool) -> str:
        """Run a program; returns why it ended before it was done."""
        options = self.export.options
        asked = {
            "target": self.request.target,
            "container": options.container,
            "zip_folder": options.zip_folder.strip("/"),
            "storage": self._storage(),
            "show": show,
            "groups": [path for path in self._groups() if path != "/"],
            "arrays": [[path, self.boxes[path]] for path in arrays],
        }
        return ask_program(program, asked, answers, self.control.token)

    def _storage(self) -> dict[str, Any] | None:
        """Return how fsspec connects to the target; None where it is on a disk."""
        if not in_object_store(self.request.target):
            return None
        origin = split_url(self.request.target).origin
        return options_with_secrets(origin, self.dataset.access.connection(origin))

    def _groups(self) -> dict[str, dict[str, Any]]:
        """Return the attributes of the groups by their paths in the target."""
        if "/" in self.layouts:
            return {}
        store = self.export.store
        return {store.group_path(group): store.attributes(group) for group in self.export.groups}

    # Comparing

    def _compared(self, program: str, answers: Answers) -> Iterator[CheckItem]:
        nodes = [*self._groups(), *self.layouts]
        for path, failure in answers.failures.items():
            what = "opening" if path not in answers.nodes else "reading"
            yield CheckItem(program, path, what, False, "a node that is read", failure)
        for path, expected in self._groups().items():
            if path in answers.nodes:
                yield from compared_attributes(program, path, expected, answers.nodes[path]["attributes"])
        for number, (path, layout) in enumerate(self.layouts.items()):
            self.control.progress(number, len(self.layouts))
            if path in answers.nodes:
                yield from self._node(program, layout, answers.nodes[path])
                yield self._values(program, layout, answers)
            elif path not in answers.failures and not _is_ended(answers, nodes):
                yield CheckItem(program, path, "opening", False, "an array", "nothing")
        self.control.progress(len(self.layouts), len(self.layouts))

    def _node(self, program: str, layout: ArrayLayout, found: dict[str, Any]) -> Iterator[CheckItem]:
        path, target = layout.target.path, layout.target
        shape = list(layout.wanted.shape)
        if not shape and program == "zarr-python" and self.export.store.flavour == Flavour.NCZARR:
            shape = [1]  # So NCZarr stores a scalar.
        yield compared(program, path, "shape", shape, found["shape"])
        if found["dimensions"] is not None and any(target.dimensions):
            names = list(target.dimensions)[: len(shape)]
            yield compared(program, path, "dimensions", names, found["dimensions"])
        expected = self.export.store.attributes(layout.wanted)
        yield from compared_attributes(program, path, expected, found["attributes"])

    def _values(self, program: str, layout: ArrayLayout, answers: Answers) -> CheckItem:
        path = layout.target.path
        boxes = self.boxes[path]
        scope = scope_of(layout.wanted.shape, element_size(layout.source), len(boxes))
        for box in boxes:
            self.control.check()
            place = path, json.dumps(box)
            found = answers.digests.get(place)
            if found is None:
                failure = answers.failures.get(path, "nothing")
                return CheckItem(program, path, "values", False, "values", failure, scope)
            if place not in self.digests:
                self.digests[place] = check_child.digest(self._expected(layout, box))
            if self.digests[place] != found:
                expected, other = self._difference(program, layout, box, found)
                return CheckItem(program, path, "values", False, expected, other, scope)
        return CheckItem(program, path, "values", True, scope=scope)

    def _expected(self, layout: ArrayLayout, box: list[list[int]]) -> npt.NDArray[Any]:
        """Return the elements of a box of the target, from the source."""
        if layout.target.path in self.gathered:
            return self.gathered[layout.target.path].take(tuple(slice(*part) for part in box))[0]
        axes = list(layout.selection.axes)
        for axis, (start, stop) in zip(layout.kept_axes, box, strict=False):
            axes[axis] = axes[axis][start:stop]
        selection = Selection(tuple(axes), layout.selection.dropped)
        values = self.dataset.session.read(
            layout.source, self.dataset.access, selection, cancel=self.control.token, export=True
        )
        converted = layout.converted(np.asarray(values))
        if layout.spreads:
            own = [slice(*part) for part in box[len(layout.kept_axes) :]]
            index: tuple[Any, ...] = (..., *own)
            converted = converted[index]
        dtype = layout.target.dtype
        return converted if dtype is None else converted.astype(dtype, copy=False)

    def _difference(
        self, program: str, layout: ArrayLayout, box: list[list[int]], found: list[str]
    ) -> tuple[str, str]:
        """Return the first element that differs, as it is expected and as it was found."""
        kind, data = check_child.elements(self._expected(layout, box))
        if kind != found[0]:
            return f"elements of type {kind}", f"elements of type {found[0]}"
        path, place = layout.target.path, (layout.target.path, json.dumps(box))
        kept, self.boxes[path] = self.boxes[path], [box]
        answers = Answers()
        try:
            self._run(program, answers, [path], show=True)
        finally:
            self.boxes[path] = kept
        if not answers.elements.get(place):
            return "other values", "values that could not be read again"
        return first_difference(kind, data, base64.b64decode(answers.elements[place][1]), box)


def _boxes_of(layout: ArrayLayout) -> list[list[list[int]]]:
    return compared_boxes(layout.wanted.shape, element_size(layout.source))


def _is_ended(answers: Answers, nodes: list[str]) -> bool:
    """Whether a program could not go on from some node: what comes after it is not missing."""
    return any(path not in answers.nodes for path in nodes if path in answers.failures) or (
        "/" in answers.failures
    )
