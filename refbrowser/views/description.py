"""The hierarchy of a dataset as JSON and as lines of text: groups, dimensions, arrays, problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from refbrowser.errors import Severity, quoted, sentence
from refbrowser.findings.finding import Finding
from refbrowser.model.grid import sides_text
from refbrowser.model.json_values import json_ready
from refbrowser.model.multiscales.marks import may_describe
from refbrowser.model.report import Report, first_of

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken
    from refbrowser.model.multiscales.multiscale import Multiscale
    from refbrowser.model.nodes import ArrayNode, GroupNode

#: Attribute values are cut at this many characters in text.
SHOWN = 100


class Description(Report):
    """What is in a dataset, as it was when it was described.

    Parameters
    ----------
    dataset
        It is to be open until each form was asked for once, or `kept` was.
    below
        A group or array: it alone is described, with what is below it.

    Attributes
    ----------
    below
        Its path; empty where all of it is described.
    path
        What was opened, as the user named it.
    problems
        What is wrong with the document and what it describes.
    """

    def __init__(self, dataset: Dataset, token: CancelToken, below: str = "") -> None:
        self.below = below.strip("/") and dataset[below].path
        self.problems = tuple(_problems(dataset, token))
        self.path = dataset.path
        self._dataset = dataset

    def _is_shown(self, path: str) -> bool:
        return not self.below or path == self.below or path.startswith(f"{self.below}/")

    @cached_property
    def text(self) -> tuple[str, ...]:
        """The hierarchy, a line for each thing."""
        return tuple(_hierarchy_lines(self._dataset, self._is_shown))

    @cached_property
    def _json(self) -> dict[str, Any]:
        return _described(self._dataset, self._is_shown)

    def kept(self) -> Self:
        """Return the same with every form made, so that the dataset may be closed."""
        self.text, self._json  # noqa: B018
        return self

    def to_json(self) -> dict[str, Any]:
        """Return it as ``info --json`` prints it: `format`, `groups`, `arrays`, `problems`."""
        return {**self._json, "problems": [finding.to_json() for finding in self.problems]}

    def __getitem__(self, member: str) -> Any:
        """Return a member of `to_json`: ``["arrays"]["/ocean/sst"]["shape"]``."""
        return self.to_json()[member]

    def lines(self) -> Iterator[str]:
        """Yield the hierarchy, and what is wrong."""
        yield from self.text
        yield from first_of([f"{each.severity}: {each.message}" for each in self.problems])


def _problems(dataset: Dataset, token: CancelToken) -> list[Finding]:
    from refbrowser.engine.findings.dataset_findings import findings_at_hand
    from refbrowser.engine.reading.garbage_collection import collected_later
    from refbrowser.model.netcdf.dataset import netcdf_view
    from refbrowser.model.netcdf.validation import validate

    findings = findings_at_hand(dataset.document, dataset.hierarchy, dataset.access, lambda: token.cancelled)
    token.check()
    # What only netCDF refuses is no problem of another format.
    with collected_later():
        everything = validate(netcdf_view(dataset.hierarchy))
        grammar = [each for each in everything if each.severity is Severity.FAULT]
    return [*findings.all, *grammar]


def _described(dataset: Dataset, is_shown: Callable[[str], bool]) -> dict[str, Any]:
    return {
        "format": dataset.format,
        "flavour": str(dataset.hierarchy.flavour),
        "age": dataset.hierarchy.age,
        "groups": {path: _group(each.node) for path, each in dataset.groups.items() if is_shown(path)},
        "arrays": {path: _array(each.node) for path, each in dataset.arrays.items() if is_shown(path)},
    }


def _group(node: GroupNode) -> dict[str, Any]:
    return {
        "attributes": json_ready(node.attributes),
        "dimensions": {
            name: {"size": dimension.size, "unlimited": dimension.unlimited}
            for name, dimension in node.dimensions.items()
        },
        **_images(node),
    }


def _pictures(node: GroupNode) -> tuple[Multiscale, ...]:
    """Return the images of a group; few have any, and load what they are described by."""
    if not may_describe(node):
        return ()
    from refbrowser.model.multiscales.conventions import pictures_of

    return pictures_of(node).pictures


def _images(node: GroupNode) -> dict[str, Any]:
    pictures = _pictures(node)
    if not pictures:
        return {}
    from refbrowser.views.multiscale_words import picture_json

    return {"images": [picture_json(picture) for picture in pictures]}


def _image_lines(node: GroupNode) -> Iterator[str]:
    for picture in _pictures(node):
        from refbrowser.views.multiscale_words import picture_lines

        yield from picture_lines(picture)


def _array(node: ArrayNode) -> dict[str, Any]:
    stored, missing = _chunk_counts(node)
    error = node.error or node.unreadable
    return {
        "shape": list(node.shape),
        "dtype": node.type.name,
        "dimensions": list(node.dimensions),
        "chunks": None if not node.has_grid else node.grid.spelling,
        "order": node.order,
        "codecs": [
            {"name": codec.name, "configuration": json_ready(codec.configuration)} for codec in node.codecs
        ],
        "fill_value": json_ready(node.fill_value),
        "attributes": json_ready(node.attributes),
        **_of_members(node),
        "stored_chunks": stored,
        "missing_chunks": missing,
        **({"not_referencable": node.not_referencable} if node.not_referencable else {}),
        **({"decoded_by": dict(node.lenders)} if node.lenders else {}),
        "error": None if error is None else f"{error.kind}: {error.message}",
    }


def _of_members(node: ArrayNode) -> dict[str, Any]:
    """Return the attributes of the members of structures, where there are any."""
    found = {name: json_ready(each.attributes) for name, each in node.type.members.items()}
    return {"member_attributes": found} if found else {}


def _chunk_counts(node: ArrayNode) -> tuple[int | None, int | None]:
    stored = None if not node.has_manifest else node.manifest.stored()
    if stored is None or not node.has_grid:
        return None, None
    return stored, node.grid.size - stored


def _hierarchy_lines(dataset: Dataset, is_shown: Callable[[str], bool]) -> Iterator[str]:
    yield f"{dataset.path}  {dataset.format}{_flavour(dataset)}"
    groups = {path: group for path, group in dataset.groups.items() if is_shown(path)}
    for path, group in groups.items():
        yield ""
        yield path
        for dimension in group.node.dimensions.values():
            more = " (unlimited)" if dimension.unlimited else ""
            yield f"  {dimension.name} = {dimension.size}{more}"
        yield from _attribute_lines(group.attrs, "  ")
        yield from _image_lines(group.node)
        for array in group.arrays.values():
            yield from _array_lines(array.node)
    if not groups:
        for path, array in dataset.arrays.items():
            if is_shown(path):
                yield from _array_lines(array.node)


def _flavour(dataset: Dataset) -> str:
    """Return whose rules the metadata follows where the format does not tell, and the age of its writer."""
    flavour, age = dataset.hierarchy.flavour, dataset.hierarchy.age
    told = [flavour.label] if dataset.document.has_keys and dataset.format != str(flavour) else []
    told += [age] if age else []
    return f" ({', '.join(told)})" if told else ""


def _array_lines(node: ArrayNode) -> list[str]:
    lines = [f"  {node.path}  {_type_and_shape(node)}"]
    error = node.error or node.unreadable
    if error is not None:
        lines.append(f"      {error.kind}: {sentence(error.message, error.advice, error.place)}")
    if node.has_grid:
        stored, missing = _chunk_counts(node)
        counts = "" if stored is None else f", {stored} stored, {missing} missing"
        codecs = ", ".join(codec.name for codec in node.codecs) or "none"
        grid = node.grid
        sides = list(grid.largest) if grid.is_regular else sides_text(grid)
        lines.append(f"      chunks {sides} {node.order}{counts}; codecs {codecs}")
        if node.lenders:
            lines.append(f"      decoded by {', '.join(dict.fromkeys(node.lenders.values()))}")
        fill = "undefined" if node.fill_value is None else str(json_ready(node.fill_value))
        lines.append(f"      fill value {fill}")
    lines += _attribute_lines(node.attributes, "      ")
    for name, each in node.type.members.items():
        lines += [f"      {name}", *_attribute_lines(each.attributes, "        ")]
    return lines


def _type_and_shape(node: ArrayNode) -> str:
    """Return ``<i2 (y = 5)``; of a nested array what Awkward writes: ``5 * var * float64``."""
    if node.nested is not None and node.shape and not any(node.dimensions):
        return f"{node.shape[0]} * {node.type.name}"
    names = ", ".join(
        f"{name if name is not None else '?'} = {size}"
        for name, size in zip(node.dimensions, node.shape, strict=False)
    )
    return f"{node.type.name} ({names})"


def _attribute_lines(attributes: Any, indent: str) -> list[str]:
    lines = []
    for name, value in attributes.items():
        text = quoted(json_ready(value), 4 * SHOWN)[1:-1]
        lines.append(f"{indent}:{name} = {text if len(text) <= SHOWN else text[:SHOWN] + '…'}")
    return lines
