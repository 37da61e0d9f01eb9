"""Words on what folding leaves as it is."""

from __future__ import annotations

import pytest

from refbrowser.references.document.fold import Kept
from refbrowser.tools.fold.report import kept_line, kept_text


@pytest.mark.parametrize(("count", "more"), [(2, ""), (3, ", …")])
def test_that_there_are_more_keys_is_told_where_there_are(count: int, more: str) -> None:
    kept = Kept("they are alone", count, ("a/0", "b/0"))
    assert kept_text(kept) == f"a/0, b/0{more}"
    assert kept_line(kept) == f"{count} keys stay: they are alone (a/0, b/0{more})"
