"""What is made of files gives the values of these: some of them are compared before it gets its name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.plan import Plan
from refbrowser.exporting.combining.properties import ArrayProperties
from refbrowser.exporting.combining.stored_forms import StoredForm, is_numeric, stored_form
from refbrowser.exporting.combining.times import counted
from refbrowser.exporting.saving.reference_proof import different, is_same
from refbrowser.formats.library.process import end_spare, one_after_another
from refbrowser.formats.registry import places_named
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import Origin, local_path, split_url
from refbrowser.model.data_type import end_texts
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection

#: Files whose values are compared with those of the result, and elements of each array.
_COMPARED, _ELEMENTS = 3, 1 << 20
#: Of files that are written anew, how many.
_ODD = 20


def named_places(plan: Plan) -> list[Origin]:
    """Return the folders and origins of files that were named: these may be read, as the user named them."""
    folders = {os.path.dirname(url) for file in plan.files for url in file.chunks.urls}
    below = {each + os.sep for each in folders}
    own: set[str] = set()
    origins: set[Origin] = set()
    for each in plan.files:
        path = local_path(each.source)
        if path is None:
            origins.add(split_url(each.source).origin)
        else:
            own.add(os.path.dirname(os.path.realpath(path)))
    used = (each for each in own if any(one.startswith(each + os.sep) for one in below))
    return [*(Origin("file", folder=each) for each in sorted(used)), *sorted(origins)]


@dataclass(slots=True)
class CombinedProof:
    """Compares a document with the files that it was made of.

    Attributes
    ----------
    compared, unread
        Chunks whose values were those of their files, and those that could not be read.
    """

    plan: Plan
    compared: int = 0
    unread: int = 0
    _allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        named = (*named_places(self.plan), *places_named(self.plan.request.opening))
        self._allow = (*self.plan.request.allow, *map(str, named))

    def some(self) -> list[int]:
        """Return the numbers of the first, a middle and the last file, and of those that are written anew."""
        usual = sorted({0, len(self.plan.files) // 2, len(self.plan.files) - 1})[:_COMPARED]
        return [*usual, *(each for each in self._odd() if each not in usual)]

    def _odd(self) -> list[int]:
        """Return a file of each way in which arrays are stored otherwise than in most."""
        found: dict[Any, int] = {}
        for array in self.plan.arrays:
            for number, told in zip(array.files, array.told, strict=True):
                if array.is_odd(told):
                    found.setdefault((array.path, stored_form(told, self.plan.request.concat)), number)
        return list(dict.fromkeys(found.values()))[:_ODD]

    def opening(self, path: str) -> OpenRequest:
        """Return how the document is opened: files that were named may be read."""
        request = self.plan.request
        return OpenRequest(
            path,
            allow=self._allow,
            storage_options=request.storage_options,
            settings=request.settings,
            stale=request.stale,
        )

    def file_opening(self, source: str) -> OpenRequest:
        """Return how one of the files is opened."""
        request = self.plan.request
        return replace(self.opening(source), allow=request.allow, options=request.opening)

    def check(self, made: Dataset, numbers: Iterable[int], token: CancelToken) -> None:
        """Compare files with a dataset.

        Raises
        ------
        RefbrowserError
            `E_IO`: it gives other values.
        """
        for part in self.plan.parts:
            proof = CombinedProof(part)
            proof.check(made, proof.some(), token)
            self.compared, self.unread = self.compared + proof.compared, self.unread + proof.unread
        for number in () if self.plan.parts else numbers:
            token.check()
            opening = self.file_opening(self.plan.files[number].source)
            before = self.compared, self.unread
            chain = None
            try:
                with one_after_another() as chain:
                    self._check_file(made, opening, number)
                    is_sure = not chain.is_mixed or self.unread == before[1]
            except RefbrowserError:
                is_sure = chain is None or not chain.is_mixed
                if is_sure:
                    raise
            if not is_sure:
                # A process that has read other files may be at fault.
                self.compared, self.unread = before
                self._check_file(made, opening, number)
        end_spare()

    def _check_file(self, made: Dataset, opening: OpenRequest, number: int) -> None:
        with open_dataset(opening) as file:
            for array in self.plan.arrays:
                if number in array.files:
                    self._compare(made, file, array, number)

    def _compare(self, made: Dataset, file: Dataset, array: ArrayOfFiles, number: int) -> None:
        plan, told = self.plan, array.told[array.files.index(number)]
        regular = plan.regular_axis(array.path)
        if regular is not None and regular.is_moved:
            return
        if not prod(told.shape) or (array.role == "same" and number != array.files[array.owner]):
            return
        node = made.hierarchy.find(f"{plan.below}{plan.request.names().path(array.path)}")
        if not isinstance(node, ArrayNode):
            return
        starts, inner = [], []
        for size, axis in zip(plan.shape(array), plan.axes_of(array), strict=True):
            part = None if axis is None else axis.of_file[number]
            starts.append(0 if axis is None or part is None else axis.starts[part])
            inner.append(size if axis is None or part is None else axis.lengths[part])
        extra = len(starts) - len(told.shape)
        # Its first chunk and its last one, as far as they can be compared.
        room = _ELEMENTS
        sides: list[int] = []
        for length, side in zip(reversed(told.shape), reversed(told.chunks), strict=True):
            sides.insert(0, max(1, min(length, side, room)))
            room //= sides[0]
        begin = tuple(slice(0, side) for side in sides)
        end = tuple(slice(length - side, length) for length, side in zip(told.shape, sides, strict=True))
        source = file.hierarchy.find(told.path)
        first = {name: at for name, at in plan.files[number].begins.items() if name in told.dimensions}
        is_whole = not first and array.role == "inlined"
        if not isinstance(source, ArrayNode) or (is_whole and source.shape != told.shape):
            # The coordinate of a dimension that only the document has.
            return
        source = file.document.by_library(source) or source
        # A dimension that only the document has is none of the file's.
        has_more = len(told.shape) > len(source.shape)
        places = [
            at for at, name in enumerate(told.dimensions) if not (has_more and name == plan.axes[0].name)
        ]
        for own in (begin,) if begin == end else (begin, end):
            moved = (
                slice(at + each.start, at + each.stop) for at, each in zip(starts[extra:], own, strict=True)
            )
            index = (*(slice(at, at + 1) for at in starts[:extra]), *moved)
            index_of_file = tuple(_moved(own[at], first.get(told.dimensions[at], 0)) for at in places)
            try:
                expected = np.asarray(
                    file.session.read(source, file.access, Selection.from_index(index_of_file, source.shape))
                )
                found = np.asarray(
                    made.session.read(node, made.access, Selection.from_index(index, node.shape))
                )
            except RefbrowserError as error:
                if error.kind not in (ErrorKind.BLOCKED, ErrorKind.SOURCE, ErrorKind.RANGE, ErrorKind.IO):
                    raise
                self.unread += 1
                continue
            for values in (found, expected):
                end_texts(values, source.known_dtype, ("space",))
            if array.role != "placed":
                if expected.dtype.hasobject:
                    return
                units = plan.units_of(array, number, told)
                expected = expected if units is None else counted(expected, told, *units)
                expected = expected.astype(found.dtype)
            if array.is_odd(told):
                if not self._means_the_same(expected, found.reshape(expected.shape), told, array):
                    raise different(array.path, f"{quoted(plan.files[number].source)} has other values")
            elif not is_same(found.reshape(expected.shape), expected):
                raise different(array.path, f"{quoted(plan.files[number].source)} has other values")
            self.compared += 1

    def _means_the_same(self, expected: Any, found: Any, told: ArrayProperties, array: ArrayOfFiles) -> bool:
        """Tell whether numbers that were stored otherwise mean what they did, as far as was told."""
        if not is_numeric(told):
            return bool(np.array_equal(found, expected))
        one, other = StoredForm.of(told), StoredForm.of(array.first)
        seen = [
            form.packing.seen(np.asarray(values, form.dtype))
            for form, values in ((one, expected), (other, found))
        ]
        missing = [form.mask(values) for form, values in zip((one, other), seen, strict=True)]
        if not np.array_equal(missing[0], missing[1]):
            return False
        before, after = (form.physical(each) for form, each in zip((one, other), seen, strict=True))
        most = max((each.error for each in self.plan.own if each.path == array.path), default=0.0)
        there = ~missing[0]
        return bool(np.allclose(before[there], after[there], rtol=1e-12, atol=most * (1 + 1e-9)))


def _moved(part: slice, start: int) -> slice:
    return slice(part.start + start, part.stop + start)
