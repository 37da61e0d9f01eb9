"""What files differ in: the common value, the odd ones out, what stands against combining, and remedies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import ACCEPTED, ODD, REENCODED, Combination, Remedy
from refbrowser.exporting.combining.properties import (
    COMPARED,
    ArrayProperties,
    ScannedSource,
    describing,
    is_named,
    short,
)
from refbrowser.exporting.combining.stored_forms import is_numeric, stored_form
from refbrowser.exporting.combining.times import (
    are_exact,
    calendar_of,
    finest,
    instants,
    target_units,
    time_of,
)
from refbrowser.exporting.saving.chosen_arrays import with_coordinates
from refbrowser.model.grid import sides_text
from refbrowser.words import counted_plain, plural

#: Files and values that a line names, and arrays where one is not there.
_NAMED, _SHOWN, _LISTED = 5, 60, 20
#: Attributes that say what numbers mean, by property.
MEANING = {
    "missing value": ("missing_value", "_FillValue"),
    "valid range": ("valid_min", "valid_max", "valid_range"),
    "flags": ("flag_values", "flag_masks", "flag_meanings"),
    "sign": ("_Unsigned",),
}
_TOLD = {"scale_factor", "add_offset", "units", "calendar"} | {
    name for names in MEANING.values() for name in names
}
#: Byte orders in words; of single bytes there is none.
_ORDERS = {"<": "little-endian", ">": "big-endian"}
#: Names of properties that are many.
_MANY = ("units", "codecs", "chunks", "dimensions", "references")
#: Properties of bytes that are read otherwise: values that stand in the document have none of them.
OF_BYTES = ("references", "form", "byte order", "memory order", "codecs", "chunks", "file ends")


@dataclass(frozen=True, slots=True)
class OddValue:
    """Another value than the common one, and the files that have it."""

    value: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One difference.

    Attributes
    ----------
    kind
        The property: ``scale``, ``chunks``, ``gap``...
    path
        Of the array or group; the name of a dimension where files are placed along one.
    name
        What the file calls it, ``scale_factor``; the kind where it has no name of its own.
    common
        The value of most files.
    common_files
        How many have it.
    odd
        The other values, those of most files first.
    is_blocking
        Whether nothing is combined before something is done about it.
    message
        The difference in words.
    """

    kind: str
    path: str
    name: str
    message: str
    common: str = ""
    common_files: int = 0
    odd: tuple[OddValue, ...] = ()
    is_blocking: bool = True
    remedies: tuple[Remedy, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The odd ones out."""
        return tuple(dict.fromkeys(file for each in self.odd for file in each.files))


def arrays_of(files: Sequence[ScannedSource], request: Combination) -> list[ArrayOfFiles]:
    """Return the arrays of the result, and what becomes of each.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: an array is named that no file has.
    """
    replaced = {each.name for each in request.new_dimensions()}
    renamed = request.renamed()
    found: dict[str, ArrayOfFiles] = {}
    seen: dict[ArrayProperties, str] = {}
    partial: set[str] = set()
    kept = _chosen(files, request)
    for number, file in enumerate(files):
        others = {} if not renamed else _others(file, renamed, partial)
        for at, told in enumerate(file.arrays):
            path = seen.get(told)
            if path is None:
                gone = {told.name, told.path} & {*request.leave_out_var}
                is_replaced = told.name in replaced and prod(told.shape) == 1
                is_other = kept is not None and told.path not in kept
                path = seen[told] = "" if gone or is_replaced or is_other else told.path
            if not path:
                continue
            path = others.get(path, path)
            array = found.get(path)
            if array is None:
                array = found[path] = ArrayOfFiles(path, extends=request.extends)
            array.files.append(number)
            array.told.append(told)
            array.numbers.append(at)
    groups = dict.fromkeys(file.groups for file in files)
    _check_names(request, seen, {path for told in groups for path, _ in told})
    for array in found.values():
        array.role = _role(array, files, request)
        array.is_partial = array.path in partial
        array.owner = _owner(array, files) if array.role == "same" else 0
        if request.reencode and array.role == "placed" and not (array.extends and array.files[0] == 0):
            array.lead_with(_most_stored(array, request))
    return list(found.values())


def _chosen(files: Sequence[ScannedSource], request: Combination) -> set[str] | None:
    """Return the paths of the arrays that are taken; None where all are."""
    if not request.arrays:
        return None
    found = {each.path for each in files[0].arrays} if request.extends else set()
    for arrays in {file.arrays: None for file in files}:
        told = {each.path: (each.dimensions, each.naming) for each in arrays}
        found |= with_coordinates(request.arrays, told)
    return found


def _owner(array: ArrayOfFiles, files: Sequence[ScannedSource]) -> int:
    """Return the first of the files of an array that has the values of most, or the document's."""
    digests = [
        files[number].digests.get(told.path) for number, told in zip(array.files, array.told, strict=True)
    ]
    most = Counter(digests).most_common(1)[0][0]
    return 0 if array.extends and array.files[0] == 0 else digests.index(most)


def _most_stored(array: ArrayOfFiles, request: Combination) -> ArrayProperties:
    """Return what files say that store most of the elements alike: the others are written anew as these."""
    sizes: Counter[Any] = Counter()
    forms: dict[int, Any] = {}
    for each in array.told:
        form = forms.setdefault(id(each), stored_form(each, request.concat))
        sizes[form] += prod(each.shape) if not each.problem else 0
    ((form, _),) = sizes.most_common(1)
    alike = Counter(id(each) for each in array.told if forms[id(each)] == form)
    ((most, _),) = alike.most_common(1)
    return next(each for each in array.told if id(each) == most)


def _others(file: ScannedSource, renamed: list[tuple[str, str, str]], partial: set[str]) -> dict[str, str]:
    """Return the other paths that arrays of a file have, and note that neither needs to be in all files."""
    found = {}
    for name, other, pattern in renamed:
        for told in file.arrays:
            if name in (told.name, told.path):
                path = f"{told.path.rpartition('/')[0]}/{other}"
                partial |= {told.path, path}
                if is_named(file.source, pattern):
                    found[told.path] = path
    return found


def _check_names(request: Combination, seen: Iterable[ArrayProperties], groups: set[str]) -> None:
    paths = {told.path for told in seen}
    names = paths | {told.name for told in seen}
    named = [*request.arrays, *request.leave_out_var, *request.inline_var]
    named += [name for name, _, _ in request.renamed()]
    named += [name for name, _, _ in request.attributes_set() if name not in groups]
    for name in named:
        if name not in names:
            message = f"no file has an array {quoted(name)}"
            known = ", ".join(sorted(paths)[:_LISTED])
            raise RefbrowserError(ErrorKind.USAGE, message, advice=f"there are {known}")


def _role(array: ArrayOfFiles, files: Sequence[ScannedSource], request: Combination) -> str:
    distinct = {id(each): each for each in array.told}.values()
    is_along = any(set(request.concat) & set(each.dimensions) for each in distinct)
    described = {}
    if request.new_dims and not is_along:
        kept: dict[int, frozenset[str]] = {}
        for number in array.files:
            arrays = files[number].arrays
            described[number] = kept.setdefault(id(arrays), describing(arrays))
            if len(kept) > 8:
                break
    is_data = bool(request.new_dims) and not any(
        told.path in described.get(number, ()) for number, told in zip(array.files, array.told, strict=True)
    )
    own = {*request.inline_var, *request.looking().valued} if request.new_dims else set()
    if (request.new_dims and is_along) or own & {array.path, array.path.rpartition("/")[2]}:
        # What is said to vary along a new dimension has it, be it a scalar.
        is_data = True
    if not (is_along or is_data):
        return "same"
    valued = all(
        told.path in files[number].values for number, told in zip(array.files, array.told, strict=True)
    )
    return "inlined" if valued else "placed"


# Differences of arrays


def mismatches_of(
    files: Sequence[ScannedSource], arrays: Sequence[ArrayOfFiles], request: Combination
) -> list[Mismatch]:
    """Return what files differ in, but where they lie: blocking differences first, in the order of arrays."""
    linter = _Linter(files, arrays, request)
    for array in arrays:
        linter.presence(array)
        linter.array(array)
    linter.groups()
    return sorted(linter.found, key=lambda each: not each.is_blocking)


class _Linter:
    def __init__(
        self, files: Sequence[ScannedSource], arrays: Sequence[ArrayOfFiles], request: Combination
    ) -> None:
        self.files, self.arrays, self.request = files, arrays, request
        self.found: list[Mismatch] = []

    def presence(self, array: ArrayOfFiles) -> None:
        """Tell of files that lack an array."""
        if self.request.merge or array.is_partial or len(array.files) == len(self.files):
            return
        there = set(array.files)
        lacking = [number for number in range(len(self.files)) if number not in there]
        # A coordinate or mapping that all files share is taken where it is.
        is_shared = array.role == "same"
        # A document that files are added to is never the odd one.
        is_new = self.request.extends and 0 not in there
        few_have = is_new or (len(there) < len(lacking) and not self.request.extends)
        odd, common = (array.files, lacking) if few_have else (lacking, array.files)
        remedies = self._leaving(odd, array.path)
        # Values that stand in the document must have something that means none.
        can_lack = array.role == "placed" or array.first.dtype[:1] == "f" or array.first.fill != "null"
        if array.role == "placed" and self._have_others(there, lacking):
            remedies.insert(0, Remedy("merge"))
        if can_lack:
            remedies.append(Remedy("accept", f"presence:{array.path}"))
        # On a regular axis what is missing is a hole, which is told with its times.
        regular = {each.name for each in self.request.regular_axes()}
        new = {each.name for each in self.request.new_dimensions()}
        is_hole = not is_new and bool(regular & {*array.first.dimensions, *new})
        blocks = not is_shared and not (is_hole or (can_lack and self._accepted("presence", array)))
        files = tuple(self.files[number].source for number in odd)
        word = "only" if few_have else "missing"
        self.found.append(
            Mismatch(
                kind="presence",
                path=array.path,
                name="presence",
                message=f"{array.path}: {word} in {named(files)}",
                common="missing" if few_have else "there",
                common_files=len(common),
                odd=(OddValue("there" if few_have else "missing", files),),
                is_blocking=blocks,
                remedies=tuple(remedies) if blocks else (),
            )
        )

    def _have_others(self, there: set[int], lacking: list[int]) -> bool:
        """Tell whether files with an array and those without have different variables."""
        if self.request.extends:
            return False
        one, other = (
            {told.path for told in self.files[number].arrays} for number in (min(there), lacking[0])
        )
        return bool(one - other) and bool(other - one)

    def array(self, array: ArrayOfFiles) -> None:
        """Tell what files differ in of an array."""
        groups = array.groups()
        placed = array.role == "placed"
        along = set(self.request.concat)
        check = self._check
        if placed:
            self._referable(array, groups)
            check(array, groups, "form", lambda each: each.form, None, "format")
        alike = check(array, groups, "dimensions", lambda each: ", ".join(each.dimensions) or "none")
        same_shape = alike and check(
            array,
            groups,
            "shape",
            lambda each: " × ".join(
                "any" if name in along else str(side)
                for name, side in zip(each.dimensions, each.shape, strict=True)
            ),
        )
        numeric = all(each.dtype[:1] in "iuf" for each in groups)
        same_type = check(
            array, groups, "type", lambda each: each.dtype, is_blocking=placed or not numeric,
        ) if array.role != "same" else True  # fmt: skip
        if placed and same_type:
            check(array, groups, "byte order", lambda each: _ORDERS.get(each.byte_order, "none"))
        if placed:
            check(array, groups, "codecs", lambda each: _codec_names(each.codecs), lambda each: each.codecs)
            check(array, groups, "memory order", lambda each: each.order)
            check(array, groups, "fill", lambda each: each.fill)
        elif array.role == "inlined" and self._holds_fill(array):
            # Values of several files have one fill value then: what was missing would be a number.
            check(array, groups, "fill", lambda each: each.fill)
        if placed and alike and not (array.divided or array.edges):
            check(array, groups, "chunks", _chunks_text)
        self._meaning(array, groups)
        if array.role == "same" and same_shape:
            self._values(array)
        names = dict.fromkeys(name for each in groups for name, _ in each.attributes)
        for name in names:
            if name not in _TOLD:
                self._attribute(array, groups, name)

    def _holds_fill(self, array: ArrayOfFiles) -> bool:
        """Tell whether a file has missing values by a fill value that is not the common one."""
        for number, told in zip(array.files, array.told, strict=True):
            fill = json.loads(told.fill) if told.fill != array.first.fill else None
            values = self.files[number].values[told.path] if isinstance(fill, int | float) else None
            if values is not None and values.dtype.kind in "iuf" and bool((values == fill).any()):
                return True
        return False

    def _referable(self, array: ArrayOfFiles, groups: dict[ArrayProperties, list[int]]) -> None:
        problems = [(each.problem, numbers) for each, numbers in groups.items() if each.problem]
        if problems:
            odd = sorted(number for _, numbers in problems for number in numbers)
            remedies = [Remedy("inline_var", array.path), *self._leaving(odd, array.path)]
            if len(odd) == len(array.files):
                message = f"{array.path}: it cannot be referenced: {problems[0][0]}"
                self.found.append(
                    Mismatch(
                        kind="references",
                        path=array.path,
                        name="references",
                        message=message,
                        remedies=(remedies[0], remedies[-1]),
                    )
                )
                return
            self._add(
                array.path,
                "references",
                "references",
                "given" if len(odd) < len(array.files) else "none",
                len(array.files) - len(odd),
                problems,
                is_blocking=not (self.request.reencode and self._anew("references", array)),
                remedies=[*remedies, *self._anew("references", array), *self._eras()],
            )

    def _meaning(self, array: ArrayOfFiles, groups: dict[ArrayProperties, list[int]]) -> None:
        """Tell of other meanings of stored numbers."""
        check = self._check
        for kind, name, plain in (("scale", "scale_factor", 1.0), ("offset", "add_offset", 0.0)):
            check(array, groups, kind, _shown_of(name), partial(_number, name=name, plain=plain), name)
        times = any(time_of(each) is not None for each in groups)
        anew = bool(self.request.time_units) and times and array.role == "inlined"
        if not anew and not self._counted_alike(array, groups):
            check(array, groups, "units", _shown_of("units"), _units_key, "units")
        if times:
            check(array, groups, "calendar", calendar_of, None, "calendar")
        for kind, names in MEANING.items():
            for name in names:
                check(array, groups, kind, _shown_of(name), None, name)

    def _counted_alike(self, array: ArrayOfFiles, groups: dict[ArrayProperties, list[int]]) -> bool:
        """Tell that times count from other dates, and are the same ones counted from that of most files."""
        if array.role != "inlined" or self._accepted("units", array) or time_of(array.first) is None:
            return False
        if len({calendar_of(each) for each in groups}) > 1 or len({_units_key(each) for each in groups}) < 2:
            return False
        if not are_exact(array, self.arrays, self.files, self.request):
            return False
        target = str(target_units(array.first, self.request))
        shown = [(_shown_of("units")(each), numbers) for each, numbers in groups.items()]
        others = [(text, numbers) for text, numbers in shown if text != _shown_of("units")(array.first)]
        count = sum(len(numbers) for _, numbers in others)
        verb = plural(count, "counts its times", "count their times")
        message = (
            f"{array.path}: {count} of {len(array.files)} files {verb} from another date; all are written "
        )
        message += f"in {quoted(target)}, with no time changed"
        self._add(
            array.path,
            "units",
            "units",
            target,
            len(array.files) - count,
            others,
            is_blocking=False,
            message=message,
        )
        return True

    def _values(self, array: ArrayOfFiles) -> None:
        """Tell of arrays without the dimension that do not have the same values."""
        if len(array.files) < 2:
            return
        by: dict[bytes | None, list[int]] = {}
        for number, told in zip(array.files, array.told, strict=True):
            by.setdefault(self.files[number].digests.get(told.path), []).append(number)
        unknown = by.pop(None, [])
        if unknown:
            many = any(prod(each.shape) > COMPARED for each in array.told)
            why = "it has too many" if many else "it is not a coordinate"
            which = "the document" if self.request.extends else "the first file"
            message = f"values of {array.path} are not compared: {why}; those of {which} are used"
            self.found.append(
                Mismatch(
                    kind="values",
                    path=array.path,
                    name="values",
                    message=message,
                    common="not compared",
                    common_files=len(unknown),
                    is_blocking=self.request.merge
                    and len(array.files) > 1
                    and not self._accepted("values", array),
                    remedies=(
                        Remedy("accept", f"values:{array.path}"),
                        Remedy("leave_out_var", array.path),
                    ),
                )
            )
        if len(by) > 1:
            common, *odd = _ranked([("", files) for files in by.values()], extends=self.request.extends)
            numbers = [number for _, files in odd for number in files]
            remedies = [*self._leaving(numbers, array.path), Remedy("accept", f"values:{array.path}")]
            if self.request.new_dims:
                remedies.insert(0, Remedy("inline_var", array.path))
            self._add(
                array.path,
                "values",
                "values",
                "the same",
                len(common[1]),
                [("others", numbers)],
                is_blocking=not self._accepted("values", array),
                remedies=remedies,
                message=self._values_told(array.path, len(common[1]), numbers),
            )

    def _values_told(self, path: str, common: int, odd: list[int]) -> str:
        files = named([self.files[number].source for number in sorted(odd)])
        if common == 1 and len(odd) > 1:
            return f"{path}: each file has other values"
        many = counted_plain(common, "file has its", "files have the same")
        return f"{path}: {many} values, but not {files}"

    def _attribute(self, array: ArrayOfFiles, groups: dict[ArrayProperties, list[int]], name: str) -> None:
        by: dict[str, list[int]] = {}
        for each, numbers in groups.items():
            text = next((value for known, value in each.attributes if known == name), "none")
            by.setdefault(text, []).extend(numbers)
        self._differing(array.path, "attribute", name, list(by.items()), is_blocking=False)

    def groups(self) -> None:
        """Tell of groups with other attributes."""
        by: dict[tuple[str, str], dict[str, list[int]]] = {}
        same: dict[int, list[int]] = {}
        for number, file in enumerate(self.files):
            same.setdefault(id(file.groups), []).append(number)
        having: dict[str, int] = {}
        for numbers in same.values():
            for path, attributes in self.files[numbers[0]].groups:
                having[path] = having.get(path, 0) + len(numbers)
                for name, text in attributes:
                    by.setdefault((path, name), {}).setdefault(text, []).extend(numbers)
        for (path, name), values in by.items():
            if name in self.request.sets(path):
                continue
            there = {number for numbers in values.values() for number in numbers}
            if len(there) < having[path]:
                paths = (number for number in range(len(self.files)) if number not in there)
                values["none"] = [
                    number for number in paths if any(path == each for each, _ in self.files[number].groups)
                ]
            self._differing(path, "attribute", name, list(values.items()), is_blocking=False)

    # One difference

    def _check(
        self,
        array: ArrayOfFiles,
        groups: dict[ArrayProperties, list[int]],
        kind: str,
        shown: Callable[[ArrayProperties], str],
        key: Callable[[ArrayProperties], Any] | None = None,
        name: str = "",
        *,
        is_blocking: bool = True,
    ) -> bool:
        """Tell of a property that files differ in; return whether they do not."""
        if len(groups) == 1:
            return True
        by: dict[Any, tuple[str, list[int]]] = {}
        for each, numbers in groups.items():
            text = shown(each)
            by.setdefault(text if key is None else key(each), (text, []))[1].extend(numbers)
        if len(by) == 1:
            return True
        settled = self._accepted(kind, array) or name in self.request.sets(array.path)
        blocks = is_blocking and not (settled or (self.request.reencode and self._anew(kind, array)))
        self._differing(array.path, kind, name or kind, list(by.values()), is_blocking=blocks, array=array)
        return False

    def _differing(
        self,
        path: str,
        kind: str,
        name: str,
        values: list[tuple[str, list[int]]],
        *,
        is_blocking: bool,
        array: ArrayOfFiles | None = None,
    ) -> None:
        if len(values) < 2:
            return
        common, *odd = _ranked(values, extends=self.request.extends)
        remedies: list[Remedy] = []
        if array is not None:
            remedies = self._remedies(kind, array, common, [number for _, files in odd for number in files])
        self._add(
            path, kind, name, common[0], len(common[1]), odd, is_blocking=is_blocking, remedies=remedies
        )

    def _remedies(
        self, kind: str, array: ArrayOfFiles, common: tuple[str, list[int]], odd: list[int]
    ) -> list[Remedy]:
        found = self._leaving(odd, array.path)
        name = array.path.rpartition("/")[2]
        # Another shape is one of the dimensions, which other arrays share.
        if len(odd) == 1 and array.role == "placed" and kind != "shape":
            file = self.files[odd[0]].source
            found.insert(1, Remedy("take_as", f"{name}={name}_2:{file}"))
        if kind in OF_BYTES and array.role == "placed":
            found.append(Remedy("inline_var", array.path))
        if kind == "units" and array.role == "inlined" and time_of(array.first) is not None:
            found.insert(0, Remedy("time_units", finest(array.first, array.told)))
        elif kind in ACCEPTED:
            found.append(Remedy("accept", f"{kind}:{array.path}"))
        anew = self._anew(kind, array)
        return [*anew, *self._eras(), *found] if anew else [*found, *self._eras()]

    def _eras(self) -> list[Remedy]:
        can_be = self.request.concat and not (self.request.split or self.request.extends)
        return [Remedy("split", "eras")] if can_be else []

    def _anew(self, kind: str, array: ArrayOfFiles) -> list[Remedy]:
        """Return the remedy that writes chunks anew, where files no longer differ in a property then."""
        if kind not in REENCODED or array.role != "placed" or array.first.problem:
            return []
        if kind in ("form", "codecs", "chunks", "file ends"):
            return [Remedy("reencode")]
        rounded = [Remedy("reencode", array.path)] if kind in ("scale", "offset", "type") else []
        return [Remedy("reencode"), *rounded] if all(map(is_numeric, array.groups())) else []

    def _leaving(self, odd: Iterable[int], path: str) -> list[Remedy]:
        files = [self.files[number].source for number in odd]
        found = [Remedy("leave_out", files[0] if len(files) == 1 else ODD)]
        return [*found, Remedy("leave_out_var", path)]

    def _add(
        self,
        path: str,
        kind: str,
        name: str,
        common: str,
        count: int,
        odd: Sequence[tuple[str, list[int]]],
        *,
        is_blocking: bool = True,
        remedies: Sequence[Remedy] = (),
        message: str = "",
    ) -> None:
        values = tuple(
            OddValue(value, tuple(self.files[number].source for number in sorted(numbers)))
            for value, numbers in odd
        )
        self.found.append(
            Mismatch(
                kind=kind,
                path=path,
                name=name,
                common=common,
                common_files=count,
                odd=values,
                is_blocking=is_blocking,
                message=message or message_of(path, name, common, count, values),
                remedies=tuple(remedies) if is_blocking else (),
            )
        )

    def _accepted(self, kind: str, array: ArrayOfFiles) -> bool:
        return kind in ACCEPTED and self.request.accepts(kind, array.path)


def _ranked(values: Iterable[tuple[str, list[int]]], *, extends: bool) -> list[tuple[str, list[int]]]:
    """Return values, that of most files first; of as many, or of a document, that of the first file."""
    found = [(value, sorted(files)) for value, files in values]
    return sorted(found, key=lambda each: (not (extends and each[1][0] == 0), -len(each[1]), each[1]))


def message_of(path: str, name: str, common: str, count: int, odd: Sequence[OddValue]) -> str:
    """Return a difference in words, with the first of the files that have it."""
    files = plural(count, "file")
    begin = f"{path}: {name} {'are' if name in _MANY else 'is'} {_cut(common)} in {count} {files}, but "
    if len(odd) == 1:
        return f"{begin}{_cut(odd[0].value)} in {named(odd[0].files)}"
    if len(odd) <= _NAMED:
        return begin + "; ".join(f"{_cut(each.value)} in {named(each.files)}" for each in odd)
    total = sum(len(each.files) for each in odd)
    return (
        f"{begin}{len(odd)} other values in {total}, first {_cut(odd[0].value)} in {named(odd[0].files[:1])}"
    )


def named(files: Sequence[str]) -> str:
    """Return how many files there are, and the first of them."""
    names = ", ".join(map(short, files[:_NAMED]))
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return f"{len(files)}: {names}{more}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _chunks_text(each: ArrayProperties) -> str:
    return sides_text(each.grid) if each.edges else " × ".join(map(str, each.chunks))


def _shown_of(name: str) -> Callable[[ArrayProperties], str]:
    return lambda each: next((text for known, text in each.attributes if known == name), "none")


def _number(each: ArrayProperties, *, name: str, plain: float) -> Any:
    value = each.attribute(name)
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    try:
        return plain if value is None else float(value)
    except (TypeError, ValueError):
        return str(value)


def _codec_names(text: str) -> str:
    codecs = [each if isinstance(each, dict) else {"id": each} for each in json.loads(text)]
    words = []
    for each in codecs:
        rest = {name: value for name, value in each.items() if name not in ("id", "name", "configuration")}
        rest |= each.get("configuration") or {}
        inner = ", ".join(f"{name} {value}" for name, value in rest.items())
        words.append(str(each.get("id") or each.get("name")) + (f" ({inner})" if inner else ""))
    return " + ".join(words) or "none"


def _units_key(each: ArrayProperties) -> Any:
    """Return what is the same for units that are written in two ways and mean the same."""
    found = time_of(each)
    return _shown_of("units")(each) if found is None else instants(found)


def of_files(found: Sequence[Mismatch]) -> Iterator[str]:
    """Yield the files that blocking differences name as odd ones, each once."""
    yield from dict.fromkeys(file for each in found if each.is_blocking for file in each.files)
