"""Where docks have their tabs."""

from __future__ import annotations

from refbrowser.app.widgets.docks import DOCKS, TABBED


def test_docks_of_tools_stand_behind_those_that_they_name() -> None:
    names = [name.removesuffix("Dock") for name, *_ in DOCKS]
    assert names[:5] == ["hierarchy", "attributes", "explain", "editor", "history"]
    assert names[5:] == ["chunkMap", "byteMap", "cost", "preview", "problems", "audit", "search", "jobs"]
    assert list(TABBED[-1]) == [f"{name}Dock" for name in names[5:]]
    areas = {name: area for name, _title, area, _hint in DOCKS}
    assert areas["explainDock"] is areas["attributesDock"]
