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
    from refbrowser.api import (
        audit,
        expand,
        export,
        fold,
        open,
        sample,
        with_attributes,
    )
    from refbrowser.api_references import append, combine, lock, make, move
    from refbrowser.api_views import check, diff, explain, info, merge, plan
    from refbrowser.engine.dataset import Array, Dataset, Group
    from refbrowser.errors import RefbrowserError
    from refbrowser.exporting.combining.combination import Combination
    from refbrowser.exporting.icechunk.icechunk_options import CommitOptions
    from refbrowser.exporting.targets.options import (
        Awkward0Writing,
        StoreOptions,
        StreamOptions,
        TableOptions,
    )
    from refbrowser.exporting.targets.reference_options import ReferenceOptions
    from refbrowser.manifest_stores import to_virtualizarr

__all__ = [
    "Array",
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
    "combine",
    "diff",
    "expand",
    "explain",
    "export",
    "fold",
    "info",
    "lock",
    "make",
    "merge",
    "move",
    "ncstream",
    "open",
    "plan",
    "sample",
    "to_virtualizarr",
    "with_attributes",
    "zarr_draft",
]

_PLACES = {
    "plan": "refbrowser.api_views",
    "info": "refbrowser.api_views",
    "move": "refbrowser.api_references",
    "explain": "refbrowser.api_views",
    "check": "refbrowser.api_views",
    "append": "refbrowser.api_references",
    "Awkward0Writing": "refbrowser.exporting.targets.options",
    "Combination": "refbrowser.exporting.combining.combination",
    "CommitOptions": "refbrowser.exporting.icechunk.icechunk_options",
    "ReferenceOptions": "refbrowser.exporting.targets.reference_options",
    "StoreOptions": "refbrowser.exporting.targets.options",
    "StreamOptions": "refbrowser.exporting.targets.options",
    "TableOptions": "refbrowser.exporting.targets.options",
    "Array": "refbrowser.engine.dataset",
    "Dataset": "refbrowser.engine.dataset",
    "Group": "refbrowser.engine.dataset",
    "RefbrowserError": "refbrowser.errors",
    "audit": "refbrowser.api",
    "expand": "refbrowser.api",
    "export": "refbrowser.api",
    "combine": "refbrowser.api_references",
    "diff": "refbrowser.api_views",
    "fold": "refbrowser.api",
    "lock": "refbrowser.api_references",
    "make": "refbrowser.api_references",
    "merge": "refbrowser.api_views",
    "open": "refbrowser.api",
    "sample": "refbrowser.api",
    "to_virtualizarr": "refbrowser.manifest_stores",
    "with_attributes": "refbrowser.api",
}
_MODULES = {"ncstream", "zarr_draft"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES and name not in _MODULES:
        raise AttributeError(f"module 'refbrowser' has no attribute {name!r}")
    from importlib import import_module

    if name in _MODULES:
        value: Any = import_module(f"refbrowser.{name}")
    else:
        value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *_MODULES})
