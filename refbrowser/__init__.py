"""Open, understand, repair and export datasets described by references.

``open(path)`` gives a `Dataset`, ``dataset["/ocean/temp"][0, :, :]`` a numpy array; ``export`` writes a
dataset as another format, ``make`` makes references of files of data, ``combine`` one document of many,
``expand`` gives the Version 0 view of a document, and ``fold`` the same with templates and gen rules;
``audit`` looks at what its references lead to, ``lock`` writes down what its files are now; ``sample``
writes the bundled sample, to try all of it on;
``diff`` tells how two datasets differ, ``merge`` puts together what two sides changed of a document;
``zarr_draft`` has stores and operations of the v3 core protocol draft of 2019, ``ncstream`` appends to
streams of messages, compacts and repairs them. What they need is imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refbrowser.version import __version__

if TYPE_CHECKING:
    from refbrowser import ncstream, zarr_draft
    from refbrowser.api import open, with_attributes, with_packing
    from refbrowser.engine.dataset import Array, Dataset, Group
    from refbrowser.errors import RefbrowserError
    from refbrowser.exporting.combining.combination import Combination
    from refbrowser.exporting.options import StoreOptions, TableOptions
    from refbrowser.exporting.targets.reference_options import ReferenceOptions
    from refbrowser.manifest_stores import to_virtualizarr
    from refbrowser.tools.append.public import append
    from refbrowser.tools.audit.audit_step import Audit, AuditFailedError, AuditUndecidedError
    from refbrowser.tools.audit.public import audit, fix, plan_audit
    from refbrowser.tools.bytes.public import cost, plan
    from refbrowser.tools.check.public import check, check_many
    from refbrowser.tools.compare.public import diff
    from refbrowser.tools.expand.public import expand
    from refbrowser.tools.explain.public import explain
    from refbrowser.tools.export.public import export, plan_export
    from refbrowser.tools.figure.public import figure
    from refbrowser.tools.fold.public import fold
    from refbrowser.tools.info.public import info
    from refbrowser.tools.lock.public import lock
    from refbrowser.tools.make.public import combine, make
    from refbrowser.tools.merge.public import merge
    from refbrowser.tools.move.public import move, places
    from refbrowser.tools.read.public import compute, write_values
    from refbrowser.tools.readers.public import readers
    from refbrowser.tools.sample.public import sample
    from refbrowser.tools.samples.public import samples
    from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing
    from refbrowser.wings.icechunk.changing.public import commit
    from refbrowser.wings.icechunk.writing.commit_options import CommitOptions
    from refbrowser.wings.ncstream.writing.stream_options import StreamOptions

__all__ = [
    "Array",
    "Audit",
    "AuditFailedError",
    "AuditUndecidedError",
    "Awkward0Writing",
    "Combination",
    "CommitOptions",
    "Dataset",
    "Group",
    "RefbrowserError",
    "ReferenceOptions",
    "StoreOptions",
    "StreamOptions",
    "TableOptions",
    "__version__",
    "append",
    "audit",
    "check",
    "check_many",
    "combine",
    "commit",
    "compute",
    "cost",
    "diff",
    "expand",
    "explain",
    "export",
    "figure",
    "fix",
    "fold",
    "info",
    "lock",
    "make",
    "merge",
    "move",
    "ncstream",
    "open",
    "places",
    "plan",
    "plan_audit",
    "plan_export",
    "readers",
    "sample",
    "samples",
    "statistics",
    "to_virtualizarr",
    "with_attributes",
    "with_packing",
    "write_values",
    "zarr_draft",
]

#: Where names are that stand in no table: that of tools has functions, that of formats has options.
_PLACES = {
    "Audit": "refbrowser.tools.audit.audit_step",
    "AuditFailedError": "refbrowser.tools.audit.audit_step",
    "AuditUndecidedError": "refbrowser.tools.audit.audit_step",
    "Combination": "refbrowser.exporting.combining.combination",
    "Array": "refbrowser.engine.dataset",
    "Dataset": "refbrowser.engine.dataset",
    "Group": "refbrowser.engine.dataset",
    "RefbrowserError": "refbrowser.errors",
    "check_many": "refbrowser.tools.check.public",
    "combine": "refbrowser.tools.make.public",
    "cost": "refbrowser.tools.bytes.public",
    "fix": "refbrowser.tools.audit.public",
    "open": "refbrowser.api",
    "places": "refbrowser.tools.move.public",
    "plan_audit": "refbrowser.tools.audit.public",
    "plan_export": "refbrowser.tools.export.public",
    "to_virtualizarr": "refbrowser.manifest_stores",
    "with_attributes": "refbrowser.api",
    "with_packing": "refbrowser.api",
    "compute": "refbrowser.tools.read.public",
    "write_values": "refbrowser.tools.read.public",
}
_MODULES = {"ncstream", "zarr_draft"}


def __getattr__(name: str) -> Any:
    from refbrowser.loading import load

    if name in _MODULES:
        value: Any = load(f"refbrowser.{name}")
    elif name in _PLACES:
        value = load(f"{_PLACES[name]}:{name}")
    elif name[:1].isupper():
        value = _options(name)
    else:
        value = _function(name)
    globals()[name] = value
    return value


def _options(name: str) -> Any:
    """Return what can be chosen of a form in which datasets are written, by the name of its class."""
    from refbrowser.formats.registry import BUILT_IN
    from refbrowser.loading import load

    for form in (form for format in BUILT_IN for form in format.writes):
        if form.options.endswith(f":{name}"):
            return load(form.options)
    raise AttributeError(f"module 'refbrowser' has no attribute {name!r}")


def _function(name: str) -> Any:
    """Return the function of a tool; those of other packages are looked for last."""
    from refbrowser.loading import load
    from refbrowser.tools.registry import tool_named

    tool = None if name.startswith("_") else tool_named(name)
    if tool is not None and tool.public:
        return load(tool.public)
    if tool is None or not tool.request:
        raise AttributeError(f"module 'refbrowser' has no attribute {name!r}")
    from refbrowser.tools.tool_functions import function_of

    return function_of(tool)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
