"""Expansion as a function."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from refbrowser.api import Path, document_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, native_errors
from refbrowser.limits import LIMITS
from refbrowser.references.document.document import Document


@native_errors()
def expand(
    document: Path | Dataset | Document | Mapping[str, Any],
    *,
    templates: Mapping[str, str] | None = None,
    skip_bad: bool = False,
) -> dict[str, Any]:
    """Return the Version 0 view of a document: key to text, ``[url]`` or ``[url, offset, length]``.

    Parameters
    ----------
    document
        A path or URL, an opened dataset or document, or the document as Python objects.
    templates
        Values for templates.
    skip_bad
        Leave faulty entries out instead of raising for the first.

    Raises
    ------
    RefbrowserError
        An entry, rule, template or member is faulty, or there is no template that a value is given for; or
        there are more rows than fit (`write_out_question`): look at those of ``dataset.document.expansion``.
    """
    source = document_of(document, dict(templates or {})).written()
    expansion = source.expansion
    if expansion.rows > LIMITS.write_out_question:
        raise RefbrowserError(
            ErrorKind.BUDGET,
            f"{expansion.rows} rows are more than {LIMITS.write_out_question} (write_out_question)",
            Place(document=source.name),
            "look at rows of dataset.document.expansion, which are made as they are requested",
        )
    text = b"".join(expansion.to_version0(skip_bad))
    expanded: dict[str, Any] = json.loads(text)
    return expanded
