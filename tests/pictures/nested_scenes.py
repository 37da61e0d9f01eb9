"""The scenes of nested values: rows that unfold, and plots of the numbers in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from awkward0_encoder import Encoder, zipped
from scenes import Stage, scene

from refbrowser.app.nested.nested_pane import NestedPane
from refbrowser.app.plot.nested_charts import ChartKind


def write_events(path: Path) -> Path:
    """Write collisions: a number that may be missing, a field that is refused, and lists of particles."""
    random, made, count = np.random.default_rng(7), Encoder("events"), 400
    sizes = random.poisson(4, count)
    pt = np.round(random.exponential(20, sizes.sum()), 2)
    eta = np.round(random.normal(0, 1.5, sizes.sum()), 3)
    particles = made.make("JaggedArray.fromcounts", made.basic(sizes, "i8"), made.table(pt=pt, eta=eta))
    missing = made.basic(np.arange(count) % 7 == 3)
    met = made.make("MaskedArray", missing, made.basic(np.round(random.exponential(12, count), 2)))
    weight = made.call(["os", "system"], "true")
    members = made.members(made.table(met=met, weight=weight, particles=particles))
    path.write_bytes(zipped(members))
    return path


def shown(stage: Stage) -> NestedPane:
    """Show the values of the file."""
    stage.open(write_events(stage.folder / "events.awkd"), "/events")
    stage.settle()
    stage.wait(lambda: stage.window.pages.get("values") is not None)
    stage.trigger("show_values")
    stage.settle()
    pane = stage.window.pages["values"].pane
    assert pane is not None
    stage.wait(pane.is_settled)
    return pane


@scene
def nested_rows(stage: Stage) -> None:
    pane = shown(stage)
    pane.table.set_current(2)
    pane.unfold.click()
    pane.unfold.click()
    stage.settle()


@scene
def nested_chart(stage: Stage) -> None:
    stage.open(write_events(stage.folder / "events.awkd"), "/events")
    stage.settle()
    plot = stage.window.centre.plot
    assert plot is not None
    assert plot.charts.pane is not None
    plot.charts.pane.choice.choose(ChartKind.FIELDS, "particles.pt", "particles.eta")
    stage.wait(plot.is_settled)
    stage.settle()
