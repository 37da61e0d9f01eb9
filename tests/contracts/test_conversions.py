"""Conversions keep what both sides hold, tell what they do not, and the manual has the table of it."""

from itertools import permutations
from pathlib import Path

import pytest
from conversions import FLAVOURS, KEPT, export, outcomes, table, write_source
from zarr_versions import needs_types_of_zarr

PAGE = Path(__file__).resolve().parents[2] / "resources" / "manual" / "export.md"


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    """The source exported to each flavour: folder, what became of each kind, and the report."""
    folder = tmp_path_factory.mktemp("conversions")
    write_source(folder / "source")
    found = {}
    for flavour in FLAVOURS:
        report = export(folder / "source", folder / flavour, flavour)
        found[flavour] = outcomes(folder / flavour, [report]), report
    return folder, found


@pytest.mark.slow
def test_the_table_of_the_manual(converted):
    _, found = converted
    made = table({flavour: kinds for flavour, (kinds, _) in found.items()})
    assert made in PAGE.read_text("utf-8"), f"{PAGE.name} should have this table:\n{made}"


@needs_types_of_zarr
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_is_not_kept_is_told(converted, flavour):
    kinds, _ = converted[1][flavour]
    assert [kind for kind, outcome in kinds.items() if outcome.what != KEPT and not outcome.told] == []


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), [*permutations(FLAVOURS, 2)])
def test_what_both_sides_hold_is_kept(converted, source, target):
    folder, found = converted
    before, after = found[source][0], found[target][0]
    out = folder / f"{source} to {target}"
    report = export(folder / source, out, target)
    kinds = outcomes(out, [found[source][1], report])
    held = [kind for kind in kinds if before[kind].what == after[kind].what == KEPT]
    assert [kind for kind in held if kinds[kind].what != KEPT] == []
    assert [kind for kind, outcome in kinds.items() if outcome.what != KEPT and not outcome.told] == []
