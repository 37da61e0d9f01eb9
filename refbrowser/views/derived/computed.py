"""From an expression to an array: one of a dataset that has its coordinates beside it, and nothing else."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine.dataset import Array
from refbrowser.engine.derived.derived_values import derived_values
from refbrowser.engine.derived.operations import Operation, StoredSource
from refbrowser.engine.opening import dataset_of
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.model.data_type import DataType
from refbrowser.model.expressions.grammar import named_arrays, parsed, unit_words
from refbrowser.model.expressions.units import Unit
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.references.content.origins import Fact, PlainAnswers
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.views.derived.expression_operands import Operands
from refbrowser.views.derived.operands import OpenedArray, Operand
from refbrowser.views.plot.reading import auxiliary_nodes, groups_above
from refbrowser.views.plot.slicing import dimension_names

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.findings.finding import Finding
    from refbrowser.references.document.document import Document

#: What a derived array is called where its expression gives it no name.
_NAME = "computed"
#: Units whose zero is not that of differences.
_TEMPERATURES = tuple(map(Unit.parsed, ("K", "degC", "degF")))
#: Attributes of coordinates that say what else is beside them.
_BESIDE = ("coordinates", "grid_mapping", "bounds")


@dataclass(frozen=True, slots=True)
class ComputedOrigin(PlainAnswers):
    """An expression (`DocumentOrigin`).

    Attributes
    ----------
    path
        Of the dataset that it is about.
    expression
        As it was written.
    labelled
        Paths of the other datasets that it names, by their labels.
    nodes
        The arrays, with what computes them, by path.
    taken
        The arrays that it is computed of: what is damaged in their sources is so in it.
    opening
        Python that opens each dataset, by its label: of one that is computed itself, what computes it.
    """

    path: str
    expression: str
    labelled: Mapping[str, str]
    nodes: Mapping[str, ArrayNode]
    taken: Sequence[Array]
    opening: Mapping[str, str]
    format: str = "computed"

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, GroupNode | ArrayNode]) -> Hierarchy:
        """Return the hierarchy with what computes its arrays: edits of attributes change no values."""
        root = hierarchy.root
        assert isinstance(root, GroupNode)
        arrays = {
            name: replace(array, values=self.nodes[array.path].values) if array.path in self.nodes else array
            for name, array in root.arrays.items()
        }
        return replace(hierarchy, root=replace(root, arrays=arrays))

    def noted(self, paths: Collection[str] | None) -> Sequence[Finding]:
        """Return what is damaged in the sources of the arrays that it is computed of."""
        damage = dict.fromkeys(note for array in self.taken for note in array.damage)
        return [replace(note, is_anywhere=True) for note in damage]

    def told(self) -> Sequence[Fact]:
        """Return the expression."""
        return (Fact("Expression", self.expression),)

    def computing(self, dataset: str) -> str:
        """Return Python that computes the array of a dataset, which Python names."""
        beside = ", ".join(f"{label!r}: {self.opening[label]}" for label in self.labelled)
        return f"refbrowser.compute({dataset}, {self.expression!r}{beside and f', {{{beside}}}'})"

    def python(self, path: str, index: str) -> str:
        """Return lines of Python that leave what an index selects of one of its arrays in ``values``."""
        array = "array" if path == next(iter(self.nodes)) else f"array.dataset[{path!r}]"
        lines = [
            "# Expressions are computed by refbrowser, which must be installed where these lines run.",
            "import refbrowser",
            "",
            f"dataset = {self.opening['']}",
            f"array = {self.computing('dataset')}",
            f"values = {array}[{index or '...'}]",
        ]
        return "\n".join(lines) + "\n"


def python_of(document: Document, path: str, index: str) -> str:
    """Return lines of Python that read part of a computed array; nothing where a document has none."""
    origin = document.made_from(ComputedOrigin)
    return "" if origin is None else origin.python(path, index)


def _opening(dataset: Dataset) -> str:
    """Return Python that opens a dataset, or that computes it."""
    origin = dataset.document.made_from(ComputedOrigin)
    if origin is None:
        return f"refbrowser.open({dataset.path!r})"
    return f"{origin.computing(origin.opening[''])}.dataset"


def source_of(dataset: Dataset) -> tuple[str, str, Mapping[str, str]]:
    """Return path, expression and labelled paths of what is computed; of all else the path, and nothing."""
    origin = dataset.document.made_from(ComputedOrigin)
    return (dataset.path, "", {}) if origin is None else (origin.path, origin.expression, origin.labelled)


def long_name_of(dataset: Dataset) -> str:
    """Return the long name of what is computed; of all else nothing."""
    origin = dataset.document.made_from(ComputedOrigin)
    made = None if origin is None else next(iter(origin.nodes.values()))
    return "" if made is None else str(made.attributes["long_name"])


def computed(text: str, datasets: Mapping[str, Dataset], token: CancelToken, long_name: str = "") -> Array:
    """Return the array that an expression says; it is computed part by part when it is read.

    Parameters
    ----------
    text
        As `refbrowser.model.expressions.grammar` says.
    datasets
        By the labels that arrays are named with; the one without a label is what the expression is about.
    long_name
        Of the array; empty for the expression.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is no expression, or what does not fit is put together; coordinates that are compared
        cannot be read.
    """
    statement = parsed(text)
    operands = Operands(text, datasets, token)
    operand = operands.of(statement.expression)
    if not operands.taken:
        message = f"{quoted(text)} names no array"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="write for example /t2m - 273.15")
    name = statement.name or _NAME
    labels = {array.label for array in named_arrays(statement.expression)}
    host = datasets[""] if "" in labels else datasets[min(labels)]
    beside = dict(_coordinates(operand))
    beside |= {each: node for each, node in _auxiliary(operand, operands.taken) if each not in beside}
    beside.pop(name, None)
    builder = ManifestBuilder(host.path)
    builder.add_node(GroupNode())
    said = long_name or (text.partition("=")[2] if statement.name else text)
    arrays = [array for array, _ in operands.taken]
    spelled = [*unit_words(statement.expression), *(array.attrs.get("units") for array in arrays)]
    made = _array_node(name, said, operand, arrays, spelled)
    if operand.unit in _TEMPERATURES and operands.is_difference(statement.expression):
        made = replace(made, attributes={**made.attributes, "units_metadata": "temperature: difference"})
    nodes = (made, *beside.values())
    for node in nodes:
        builder.add_node(node)
    labelled = {label: datasets[label].path for label in sorted(labels) if label}
    opening = {label: _opening(datasets[label]) for label in labelled} | {"": _opening(host)}
    by_path = {node.path: node for node in nodes}
    origin = ComputedOrigin(host.path, text, labelled, by_path, arrays, opening)
    document = builder.document(name=host.path, origin=origin)
    session = Session()
    session.only_here = "it is computed of arrays that are open in this process"
    dataset = dataset_of(host.path, document, host.access, session)
    weakref.finalize(dataset, session.close)
    return dataset.array(f"/{name}")


def _array_node(
    name: str, text: str, operand: Operand, arrays: Sequence[Array], spelled: Sequence[Any]
) -> ArrayNode:
    attributes: dict[str, Any] = {"long_name": " ".join(text.split())}
    units = _units(operand, spelled)
    if units:
        attributes["units"] = units
    for each in ("coordinates", "grid_mapping"):
        values = {array.attrs.get(each) for array in arrays}
        if len(values) == 1 and None not in values:
            attributes[each] = values.pop()
    made = _node(f"/{name}", operand.operation, tuple(operand.axes))
    fill = np.array(np.nan, made.known_dtype)[()] if made.known_dtype.kind in "fc" else None
    return replace(made, attributes=attributes, fill_value=fill)


def _units(operand: Operand, spelled: Sequence[Any]) -> str:
    """Return units as they are spelled where they are the same: ``degrees_north``, not ``degree``."""
    if operand.unit is None:
        return ""
    for units in spelled:
        if isinstance(units, str) and type(operand.unit).parsed(units) == operand.unit:
            return units
    return str(operand.unit) or "1"


def _node(path: str, operation: Operation, dimensions: tuple[str, ...]) -> ArrayNode:
    return ArrayNode(
        path=path,
        shape=tuple(operation.sizes.values()),
        type=DataType.of(operation.dtype),
        dimensions=tuple(None if name.startswith("dim ") else name for name in dimensions),
        values=derived_values(path, operation),
        fill_marks=False,
    )


def _coordinates(operand: Operand) -> Iterator[tuple[str, ArrayNode]]:
    """Yield the coordinate of each dimension: what is taken of it."""
    for name, axis in operand.axes.items():
        if axis.node is not None and axis.dataset is not None:
            yield name, _stored(Array(axis.dataset, axis.node), axis.selection(), f"/{name}")


def _auxiliary(operand: Operand, taken: Sequence[tuple[Array, Selection]]) -> Iterator[tuple[str, ArrayNode]]:
    """Yield auxiliary coordinates and grid mappings of the arrays that have all dimensions of the result."""
    for array, selection in taken:
        node, dataset = array.node, array.dataset
        names = dimension_names(node)
        if {name for axis, name in enumerate(names) if axis not in selection.dropped} != set(operand.axes):
            continue
        for found in auxiliary_nodes(dataset.hierarchy, node):
            part = selection.of_axes(found.dimensions)
            yield found.node.name, _stored(Array(dataset, found.node), part, f"/{found.node.name}")
        mapping = node.attributes.get("grid_mapping")
        for group in groups_above(dataset.hierarchy, node.path):
            beside = group.arrays.get(mapping) if isinstance(mapping, str) else None
            if beside is not None and not beside.shape and beside.has_manifest:
                yield beside.name, _stored(Array(dataset, beside), Selection(()), f"/{beside.name}")
                break


def _stored(array: Array, selection: Selection, path: str) -> ArrayNode:
    """Return what a selection takes of an array, as it is stored and described."""
    source = StoredSource(OpenedArray(array), selection, dimension_names(array.node))
    node = _node(path, source, source.names)
    attributes = {name: value for name, value in array.node.attributes.items() if name not in _BESIDE}
    return replace(
        node,
        type=array.node.type,
        fill_value=array.node.fill_value,
        fill_marks=array.node.fill_marks,
        attributes=attributes,
        attribute_types=array.node.attribute_types,
    )
