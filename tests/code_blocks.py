"""Code of the README and the manual, run as it stands."""

from __future__ import annotations

import warnings
from typing import Any

from refbrowser.xarray_backend import RefbrowserBackendEntrypoint


def run_code(code: str, names: dict[str, Any]) -> None:
    """Run code with names, which it may change.

    The engine of xarray is given by its class: its name is known only where the package was installed anew.
    """
    names["Engine"] = RefbrowserBackendEntrypoint
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code.replace('engine="refbrowser"', "engine=Engine"), names)
