"""The Python function of a tool that has none of its own: made of the fields of its request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from inspect import Parameter, Signature, signature
from typing import Any

from refbrowser.api import Path, StorageOptions, control_of, dataset_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors
from refbrowser.formats.option_fields import declared, usual
from refbrowser.loading import load
from refbrowser.tools.tool import Report, Tool


def function_of(tool: Tool) -> Callable[..., Report]:
    """Return the function that runs a tool on a dataset; the fields of its request are keywords."""
    request, work = load(tool.request), load(tool.run)
    options = declared(request)

    @native_errors()
    def function(
        dataset: Dataset | Path,
        *,
        allow: Iterable[str] = (),
        storage_options: StorageOptions = (),
        templates: Mapping[str, str] | None = None,
        progress: Callable[..., None] | None = None,
        **said: Any,
    ) -> Report:
        # What is no field of the request raises what a wrong keyword raises everywhere in Python.
        asked = request(
            **{name: options[name].value(value) if name in options else value for name, value in said.items()}
        )
        with dataset_of(dataset, allow, storage_options=storage_options, templates=templates) as opened:
            report: Report = work(asked, opened, control_of(progress))
        return report

    function.__name__ = function.__qualname__ = tool.name
    function.__doc__ = _documentation(tool, request)
    common = [
        each for each in signature(function).parameters.values() if each.kind is not Parameter.VAR_KEYWORD
    ]
    own = [_parameter(request, each.name, each.type) for each in fields(request) if each.name in options]
    function.__signature__ = Signature([*common, *own], return_annotation="Report")  # type: ignore[attr-defined]
    return function


def _documentation(tool: Tool, request: type) -> str:
    lines = [f"{tool.words[:1].upper()}{tool.words[1:]}.", "", "Parameters", "----------"]
    lines += ["dataset", "    An opened dataset, or what to open."]
    for name, each in declared(request).items():
        about = each.about or each.words
        lines += [name, f"    {about[:1].upper()}{about[1:].rstrip('.')}."]
    return "\n".join(lines)


def _parameter(request: type, name: str, annotation: Any) -> Parameter:
    default = usual(request, name)
    default = Parameter.empty if default is MISSING else default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
