"""Show the hierarchy of a dataset: groups, dimensions, arrays, problems."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import finding_line, plain, sentence, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_templates,
    add_yes,
    list_store,
    open_dataset,
)
from refbrowser.cli.values import json_ready
from refbrowser.errors import Severity
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.errors import Finding
    from refbrowser.model.nodes import ArrayNode, GroupNode

#: Attribute values are cut at this many characters in text.
SHOWN = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="PATH", help="what to open")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Open the dataset and describe it."""
    with open_dataset(arguments, token) as dataset:
        list_store(dataset, token)
        if arguments.json:
            write_json(_described(dataset, token))
        else:
            _write_text(dataset, token)
    return 0


def _problems(dataset: Dataset, token: CancelToken) -> list[Finding]:
    from refbrowser.engine.collecting import collected_later
    from refbrowser.engine.problems.findings import findings_at_hand
    from refbrowser.model.netcdf.dataset import netcdf_view
    from refbrowser.model.netcdf.validation import validate

    findings = findings_at_hand(dataset.document, dataset.hierarchy, dataset.access, lambda: token.cancelled)
    token.check()
    # What only netCDF refuses is no problem of another format.
    with collected_later():
        everything = validate(netcdf_view(dataset.hierarchy))
        grammar = [each for each in everything if each.severity is Severity.FAULT]
    return [*findings.all, *grammar]


def _described(dataset: Dataset, token: CancelToken) -> dict[str, Any]:
    return {
        "format": dataset.format,
        "flavour": dataset.hierarchy.flavour.value,
        "age": dataset.hierarchy.age,
        "groups": {path: _group(group.node) for path, group in dataset.groups.items()},
        "arrays": {path: _array(array.node) for path, array in dataset.arrays.items()},
        "problems": [finding.to_json() for finding in _problems(dataset, token)],
    }


def _group(node: GroupNode) -> dict[str, Any]:
    return {
        "attributes": json_ready(node.attributes),
        "dimensions": {
            name: {"size": dimension.size, "unlimited": dimension.unlimited}
            for name, dimension in node.dimensions.items()
        },
    }


def _array(node: ArrayNode) -> dict[str, Any]:
    stored, missing = _chunk_counts(node)
    error = node.error or node.unreadable
    return {
        "shape": list(node.shape),
        "dtype": node.type.name,
        "dimensions": list(node.dimensions),
        "chunks": None if not node.has_grid else list(node.grid.chunk_shape),
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


def _write_text(dataset: Dataset, token: CancelToken) -> None:
    write_line(f"{plain(dataset.path)}  {dataset.format}{_flavour(dataset)}")
    for path, group in dataset.groups.items():
        write_line("")
        write_line(plain(path))
        for dimension in group.node.dimensions.values():
            more = " (unlimited)" if dimension.unlimited else ""
            write_line(f"  {plain(dimension.name)} = {dimension.size}{more}")
        _write_attributes(group.attrs, "  ")
        for array in group.arrays.values():
            _write_array(array.node)
    if not dataset.groups:
        for array in dataset.arrays.values():
            _write_array(array.node)
    problems = _problems(dataset, token)
    if problems:
        write_line("")
    for finding in problems:
        write_line(finding_line(finding))


def _flavour(dataset: Dataset) -> str:
    """Return whose rules the metadata follows where the format does not tell, and the age of its writer."""
    flavour, age = dataset.hierarchy.flavour, dataset.hierarchy.age
    told = [flavour.label] if dataset.document.has_keys and dataset.format != flavour.value else []
    told += [plain(age)] if age else []
    return f" ({', '.join(told)})" if told else ""


def _write_array(node: ArrayNode) -> None:
    write_line(f"  {plain(node.path)}  {_type_and_shape(node)}")
    error = node.error or node.unreadable
    if error is not None:
        write_line(f"      {error.kind}: {sentence(error.message, error.advice, error.place)}")
    if node.has_grid:
        stored, missing = _chunk_counts(node)
        counts = "" if stored is None else f", {stored} stored, {missing} missing"
        codecs = ", ".join(plain(codec.name) for codec in node.codecs) or "none"
        write_line(f"      chunks {list(node.grid.chunk_shape)} {node.order}{counts}; codecs {codecs}")
        fill = "undefined" if node.fill_value is None else plain(json_ready(node.fill_value))
        write_line(f"      fill value {fill}")
    _write_attributes(node.attributes, "      ")
    for name, each in node.type.members.items():
        write_line(f"      {plain(name)}")
        _write_attributes(each.attributes, "        ")


def _type_and_shape(node: ArrayNode) -> str:
    """Return ``<i2 (y = 5)``; of a nested array what Awkward writes: ``5 * var * float64``."""
    if node.nested is not None and node.shape and not any(node.dimensions):
        return plain(f"{node.shape[0]} * {node.type.name}")
    names = ", ".join(
        f"{plain(name) if name is not None else '?'} = {size}"
        for name, size in zip(node.dimensions, node.shape, strict=False)
    )
    return f"{plain(node.type.name)} ({names})"


def _write_attributes(attributes: Any, indent: str) -> None:
    for name, value in attributes.items():
        text = plain(json_ready(value))
        write_line(f"{indent}:{plain(name)} = {text if len(text) <= SHOWN else text[:SHOWN] + '…'}")
