"""The scenes of the pictures: each brings a new window into a state that users meet."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from multiscale_stores import write_geozarr
from nczarr_documents import nczarr_document
from PySide6.QtCore import QElapsedTimer, QMimeData, QPoint, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)
from servers.http_server import Fault, HttpServer
from unread_data import HDF4, without_pyhdf
from window_reset import SharedWindow
from window_rest import is_at_rest

from refbrowser.app.commands.findings import FindingCommands
from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.commands.view import PreferenceCommands, ViewCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs import preferences_dialog
from refbrowser.app.panes import jobs_pane
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.widgets import small_widgets
from refbrowser.engine.compute import ComputeStatus
from refbrowser.engine.jobs import Job, JobState, JobStatus
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.tools.compare.window.commands import CompareCommands
from refbrowser.tools.export.window import export_work as exporting
from refbrowser.tools.figure.window.figure_sheet import FigureSheet
from refbrowser.views.maps.layouts import ChosenProjection
from refbrowser.views.plot.levels import Scale

CHECKOUT = Path(__file__).resolve().parents[2]
SAMPLE = CHECKOUT / "resources" / "sample"
PATIENCE = 30_000


class Patience:
    """Waits for a window as the runner of tests does."""

    def waitUntil(self, holds: Callable[[], object]) -> None:
        """Let the window go on until something holds."""
        clock = QElapsedTimer()
        clock.start()
        while not holds():
            if clock.elapsed() > PATIENCE:
                raise TimeoutError("the scene was not reached")
            QTest.qWait(10)


class Stage:
    """A window with the sample, and what a user does with it. All files of it lie in one folder."""

    def __init__(self, folder: Path, shared: SharedWindow) -> None:
        self.folder = folder
        self.after = ExitStack()
        # Every machine has as much room.
        self.after.enter_context(patch.object(exporting, "_free_space", lambda target: 75_500_000_000))
        self.after.enter_context(
            patch.object(small_widgets, "room_for_window", lambda widget: QSize(1904, 1040))
        )
        shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
        self._shared, self.window = shared, shared.window
        # What is read ahead, and when, differs from time to time.
        self.window.centre.plot.set_prefetch(False)  # type: ignore[union-attr]

    def close(self) -> None:
        """Make the window as good as new, for the next scene."""
        self.after.close()
        self._shared.reset(PATIENT)

    # Waiting

    def wait(self, holds: Callable[[], object]) -> None:
        """Let the window go on until something holds."""
        try:
            PATIENT.waitUntil(holds)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {self.unrest()}") from None

    def unrest(self) -> str:
        """Name what still runs."""
        plot = self.window.centre.plot
        pauses = [
            f"{timer.parent()!r} {timer.objectName()} {timer.interval()} ms"
            for timer in self.window.findChildren(QTimer)
            if timer.isActive()
        ]
        tasks = "tasks run" if self.window.tasks.busy() else "no task runs"
        return f"{tasks}; plot settled: {plot is None or plot.is_settled()}; timers: {pauses}"

    def settle(self) -> None:
        """Wait until nothing runs, twice: what was posted may begin anew."""
        jobs = self.window.findChild(QAbstractButton, "statusJobsButton")
        for _ in range(2):
            # What ended is named for a moment.
            self.wait(lambda: jobs.text() == "No jobs" and is_at_rest(self.window))
            QApplication.processEvents()

    def follow(self) -> None:
        """Let what is drawn follow another theme; what the scene holds up stays held up."""
        clock = QElapsedTimer()
        clock.start()
        # Layouts are made anew when events are handled, those in scrolled panes after what holds them.
        QTest.qWait(50)
        while clock.elapsed() < 500 and not is_at_rest(self.window):
            QTest.qWait(10)

    # Doing

    def open(self, path: str | Path, array: str | None = None) -> OpenDocument:
        document = self.window.open_path(str(path), array)
        self.wait(lambda: document.is_open or document.error is not None)
        return document

    def sample(self, array: str | None = None) -> OpenDocument:
        document = self.open(self.folder / "sea_surface.json", array)
        self.settle()
        return document

    def select(self, document: OpenDocument, kind: str, place: str | int) -> None:
        model = self.window.hierarchy.model
        self.window.hierarchy.select_index(model.find_identity((document.number, kind, place)))
        self.settle()

    def type_over(self, name: str, text: str) -> None:
        """Type into a field as a user would, in place of what it holds."""
        field: Any = self.window.findChild(QLineEdit, name) or self.window.findChild(QPlainTextEdit, name)
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, text)
        self.settle()

    def trigger(self, name: str) -> None:
        self.window.actions_[name].trigger()
        QApplication.processEvents()

    def dialog(self, name: str) -> QWidget:
        """Carry out what opens a dialog, and return it."""
        self.trigger(name)
        return self.shown_dialog()

    def shown_dialog(self) -> QWidget:
        """Return the dialog in front, when it has the keyboard."""
        shown = [found for found in self.window.findChildren(QDialog) if found.isVisible()]
        self.wait(shown[-1].isActiveWindow)
        self.settle()
        return shown[-1]

    def write(self, name: str, value: object) -> Path:
        path = self.folder / name
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return path

    def server(self) -> HttpServer:
        return self.after.enter_context(HttpServer())


PATIENT: Any = Patience()
Scene = Callable[[Stage], QWidget | None]
SCENES: dict[str, Scene] = {}


def scene(make: Scene) -> Scene:
    """Add a function to the scenes; it returns what is drawn, None for the window."""
    SCENES[make.__name__] = make
    return make


# Opening


@scene
def empty(stage: Stage) -> None:
    stage.settle()


@scene
def drag_over(stage: Stage) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(stage.folder / "sea_surface.json"))])
    event = QDragEnterEvent(
        QPoint(300, 300),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(stage.window, event)
    stage.after.callback(lambda: QApplication.sendEvent(stage.window, QDragLeaveEvent()))


@scene
def loading(stage: Stage) -> None:
    server = stage.server()
    server.files["/sea_surface.json"] = (SAMPLE / "sea_surface.json").read_bytes()
    server.faults["/sea_surface.json"] = Fault("stall", 5_000)
    stage.window.open_path(server.url("/sea_surface.json"))
    QTest.qWait(600)


@scene
def error(stage: Stage) -> None:
    text = (SAMPLE / "sea_surface.json").read_text()
    stage.open(stage.write("broken.json", text.replace('"refs"', '"refs', 1).encode()))
    stage.settle()


@scene
def data_file(stage: Stage) -> None:
    stage.after.enter_context(without_pyhdf())
    stage.open(stage.write("temperature.hdf", HDF4))
    stage.settle()


# Plots


@scene
def image(stage: Stage) -> None:
    stage.sample("/ocean/sst")


@scene
def borders(stage: Stage) -> None:
    stage.sample("/atmosphere/wind_speed")
    look = stage.window.centre.plot.look()  # type: ignore[union-attr]
    for name in ("borders", "graticule"):
        look.set_overlay(name, True)
        stage.after.callback(look.set_overlay, name, False)
    stage.settle()


@scene
def robinson(stage: Stage) -> None:
    stage.sample("/ocean/sst")
    look = stage.window.centre.plot.look()  # type: ignore[union-attr]
    look.set_projection(ChosenProjection("robinson", (-30.0, 0.0)))
    stage.after.callback(look.set_projection, ChosenProjection())
    stage.settle()


@scene
def line(stage: Stage) -> None:
    stage.sample("/ocean/sst_mean")


@scene
def flags(stage: Stage) -> None:
    values = np.fromfunction(lambda y, x: (x // 20 + y // 15) % 4, (60, 80)).astype("u1")
    attributes = {
        "_ARRAY_DIMENSIONS": ["y", "x"],
        "long_name": "Surface type",
        "flag_values": [0, 1, 2, 3],
        "flag_meanings": "sea land ice lake",
    }
    stage.open(stage.write("surface.json", one_array(values, attributes)), "/type")
    stage.settle()


@scene
def histogram(stage: Stage) -> None:
    stage.sample("/atmosphere/wind_speed")
    stage.trigger("toggle_histogram")
    stage.settle()


@scene
def marks(stage: Stage) -> None:
    y, x = np.mgrid[0:60, 0:90].astype("f4")
    low = np.exp(-((x - 40) ** 2 + (y - 30) ** 2) / 400)
    fields = {
        "pressure": (1015 - 30 * low, {"units": "hPa", "long_name": "Pressure"}),
        "u": ((y - 30) * low, {"units": "m s-1", "standard_name": "eastward_wind"}),
        "v": ((x - 40) * low, {"units": "m s-1", "standard_name": "northward_wind"}),
    }
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}'}
    for name, (values, attributes) in fields.items():
        about = {"_ARRAY_DIMENSIONS": ["y", "x"], **attributes}
        refs |= metadata(name, values.shape, values.shape, "<f4", about)
        refs[f"{name}/0.0"] = f"base64:{base64.b64encode(values.astype('<f4').tobytes()).decode()}"
    stage.open(stage.write("storm.json", refs), "/pressure")
    stage.settle()
    plot = stage.window.centre.plot
    assert plot is not None
    plot.look().set_scale(Scale(steps=8))
    stage.trigger("toggle_contours")
    stage.trigger("toggle_arrows")
    stage.settle()


@scene
def resolutions(stage: Stage) -> None:
    document = stage.open(write_geozarr(stage.folder / "scene.zarr", size=1024), "/r10m/red")
    stage.settle()
    plot = stage.window.centre.plot
    assert plot is not None
    plot.canvas.show_range((120.0, 250.0), (120.0, 250.0))
    QTest.qWait(500)
    stage.settle()
    stage.select(document, "array", "/r10m/red")


@scene
def profile_and_series(stage: Stage) -> None:
    stage.sample("/ocean/sst")
    stage.window.resize(1600, 1000)
    plot = stage.window.centre.plot
    assert plot is not None
    stage.trigger("toggle_profile")
    plot.point_at((70, 150))
    stage.trigger("series_here")
    stage.settle()
    QTest.qWait(500)
    stage.settle()


@scene
def regions_compared(stage: Stage) -> None:
    from refbrowser.views.regions.region import parsed_region

    stage.sample("/ocean/sst")
    plot = stage.window.centre.plot
    assert plot is not None
    stage.trigger("toggle_region")
    tool = plot.tools.region()
    tool.set_region(parsed_region("lat 20..60, lon 150..-120"))
    tool.add(parsed_region("polygon(-60 -45, 0 -45, 15 5, -35 5) and > 10"))
    tool.set_measure("mean")
    stage.wait(lambda: not tool.reader.is_reading and all(each.found for each in tool.regions))
    stage.wait(lambda: all(each.found.series for each in tool.regions))
    QTest.qWait(500)
    stage.settle()


def _plain_plot(stage: Stage) -> PlotPane:
    """Return the plot without what another scene drew over all pictures."""
    plot = stage.window.centre.plot
    assert plot is not None
    for name in ("contours", "arrows"):
        plot.look().set_overlay(name, False)
    return plot


@scene
def linked_views(stage: Stage) -> None:
    document = stage.sample("/ocean/sst")
    first = _plain_plot(stage)
    stage.trigger("split_right")
    stage.window.hierarchy.select_node(document, "/atmosphere/wind_speed")
    stage.settle()
    stage.trigger("link_views")
    stage.settle()
    first.set_index(0, 6)
    stage.settle()
    first.point_at((100, 200))


@scene
def crossing_slices(stage: Stage) -> None:
    stage.sample("/ocean/sst")
    _plain_plot(stage)
    stage.trigger("three_slices")
    stage.settle()


@scene
def missing_chunks(stage: Stage) -> None:
    stage.sample("/atmosphere/wind_speed")


@scene
def partial(stage: Stage) -> None:
    server, count = stage.server(), 6
    values = np.linspace(0, 1, 100 * 100, dtype="<f4").reshape(100, 100)
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}'}
    refs |= metadata("field", (100 * count // 2, 200), (100, 100), "<f4", {"_ARRAY_DIMENSIONS": ["y", "x"]})
    for number in range(count):
        name = f"/part{number}.bin"
        server.files[name] = (values + number).tobytes()
        refs[f"field/{number // 2}.{number % 2}"] = [server.url(name)]
    server.faults["/part3.bin"] = Fault("status", 404)
    server.faults["/part4.bin"] = Fault("silent")
    del refs["field/2.1"]
    document = stage.open(stage.write("partial.json", {"version": 1, "refs": refs}), "/field")
    stage.wait(lambda: document.wants)
    document.allow(document.wants)
    plot = stage.window.centre.plot
    assert plot is not None
    stage.wait(lambda: plot.picture() is not None and len(plot.legend.shown_states()) == 3)
    QTest.qWait(1500)
    # Those of the chunk that came first would be kept.
    stage.trigger("auto_levels")
    QTest.qWait(600)


@scene
def too_large(stage: Stage) -> None:
    refs = {".zgroup": '{"zarr_format": 2}'}
    refs |= metadata("huge", (400_000, 400_000), (400_000, 400_000), "<f8", {})
    refs["huge/0.0"] = "text"
    stage.open(stage.write("huge.json", refs), "/huge")
    stage.settle()


# Other views of an array


@scene
def table(stage: Stage) -> None:
    stage.sample("/ocean/sst")
    stage.trigger("show_table")
    stage.settle()


@scene
def references(stage: Stage) -> None:
    stage.sample("/atmosphere/wind_speed")
    stage.trigger("show_references")
    stage.settle()


@scene
def raw_value(stage: Stage) -> None:
    stage.sample("/ocean/sst")
    stage.window.navigation.select_key("ocean/sst/.zattrs")
    stage.trigger("show_raw")
    stage.settle()


@scene
def explain(stage: Stage) -> None:
    stage.sample("/ocean/sst")
    plot = stage.window.centre.plot
    assert plot is not None
    plot.point_at((120, 200))
    stage.trigger("explain")
    stage.settle()


@scene
def chunk_map(stage: Stage) -> None:
    from refbrowser.references.edits.edits import SetReference

    document = stage.sample("/atmosphere/wind_speed")
    for key in ("0.0.1", "0.0.2", "3.0.0"):
        document.apply(SetReference(f"atmosphere/wind_speed/{key}", ["data/other.bin", 0, 100]))
    stage.settle()
    dock = stage.window.docks["chunkMapDock"]
    stage.window.resizeDocks([dock], [420], Qt.Orientation.Vertical)
    stage.settle()


# Editing


@scene
def prefix(stage: Stage) -> None:
    stage.sample("/atmosphere/wind_speed")
    stage.trigger("replace_prefix")
    stage.settle()
    stage.type_over("urlPrefixNew", "archive/")


@scene
def metadata_text(stage: Stage) -> None:
    stage.sample("/ocean/sst")
    stage.window.attributes.show_metadata()
    stage.settle()


@scene
def rule(stage: Stage) -> None:
    document = stage.sample("/ocean/sst")
    stage.select(document, "rule", 0)
    stage.type_over("genOffsetField", "{{ 512 + y * 64800 + (m - 5) * 8 }}")


@scene
def rule_with_fault(stage: Stage) -> None:
    document = stage.sample("/ocean/sst")
    stage.select(document, "rule", 0)
    stage.type_over("genOffsetField", "{{ 512 + y * 64800 + (m - }}")


@scene
def templates(stage: Stage) -> None:
    document = stage.sample("/ocean/sst")
    stage.select(document, "template", "month")


@scene
def edited(stage: Stage) -> None:
    from refbrowser.references.edits.edits import RemoveReference, SetReference

    document = stage.sample("/atmosphere/wind_speed")
    document.apply(RemoveReference("atmosphere/wind_speed/0.0.0"))
    document.apply(SetReference("atmosphere/wind_speed/0.0.1", ["data/missing.bin", 0, 100]))
    stage.settle()
    stage.window.docks.raise_("historyDock")
    stage.settle()


@scene
def problems(stage: Stage) -> None:
    refs: dict[str, object] = {
        ".zgroup": '{"zarr_format": 2}',
        "a/0": ["{{unknown}}", 0, 10],
        "b/0": ["data.bin", -1, 10],
        "c/.zarray": "{",
        "c/.zattrs": '{"scale": NaN}',
    }
    stage.open(stage.write("faults.json", {"version": 1, "templates": {"u": "{{v"}, "refs": refs}))
    stage.settle()
    stage.window.groups[FindingCommands].show_problems()
    stage.settle()
    stage.window.findings.table.selectRow(0)
    stage.settle()


@scene
def source(stage: Stage) -> None:
    refs: dict[str, object] = {
        ".zgroup": '{"zarr_format": 2}',
        "temp/.zarray": "{",
        **{f"temp/{number}": ["{{u}}/temp.nc", 4096 * number, 4096] for number in range(40)},
        "temp/40": ["{{unknown}}", 0, 4096],
    }
    rule = {"key": "salt/{{i}}", "url": "{{u}}/salt_{{i}}.nc", "dimensions": {"i": {"stop": 12}}}
    contents = {"version": 1, "templates": {"u": "s3://\u202ebucket"}, "gen": [rule], "refs": refs}
    stage.open(stage.write("faults.json", contents))
    stage.settle()
    stage.trigger("show_source")
    stage.settle()
    pane = stage.window.centre.make_source()
    pane.view.go_to(pane.view.marks()[1].start)
    pane.view.setFocus()
    stage.settle()


@scene
def untrusted(stage: Stage) -> None:
    stage.open(far(stage), "/field")
    stage.settle()


# Dialogs


@scene
def trust_sheet(stage: Stage) -> QWidget:
    stage.open(far(stage), "/field")
    stage.settle()
    return stage.dialog("review_trust")


@scene
def export(stage: Stage) -> QWidget:
    stage.sample("/ocean/sst")
    return stage.dialog("export")


@scene
def figure_sheet(stage: Stage) -> QWidget:
    stage.sample("/ocean/sst")
    # Other scenes may have left them.
    stage.window.centre.plot.look().set_overlay("contours", False)  # type: ignore[union-attr]
    stage.settle()
    sheet = stage.dialog("export_figure")
    assert isinstance(sheet, FigureSheet)
    stage.wait(lambda: sheet.drawing is not None)
    stage.settle()
    return sheet


@scene
def open_url(stage: Stage) -> QWidget:
    return stage.dialog("open_url")


@scene
def preferences(stage: Stage) -> QWidget:
    return stage.dialog("preferences")


@scene
def preferences_compute(stage: Stage) -> QWidget:
    working = ComputeStatus(4, 16, 21_400_000_000, 128_000_000_000, "http://node1:8787/status")
    stage.after.enter_context(patch.object(preferences_dialog, "ask_workers", lambda *_: working))
    stage.window.groups[PreferenceCommands].compute()
    for name, value in (("", "cluster"), ("_scheduler", "tls://node1:8786"), ("_ca", "/etc/dask/ca.pem")):
        stage.window.preferences.set(f"compute{name}", value)
    return stage.shown_dialog()


@scene
def keys(stage: Stage) -> QWidget:
    return stage.dialog("shortcuts")


@scene
def save_as_version_0(stage: Stage) -> QWidget:
    document = stage.sample()
    stage.window.groups[SaveCommands].save_to(document, str(stage.folder / "plain.json"), 0)
    stage.settle()
    return stage.shown_dialog()


@scene
def palette(stage: Stage) -> QWidget:
    stage.sample("/ocean/sst")
    return stage.dialog("command_palette")


# Jobs


@scene
def jobs(stage: Stage) -> None:
    """Draw exports that run, and some jobs that ended, at a moment of a clock that stands."""
    stage.sample("/ocean/sst")
    stage.window.groups[ViewCommands].show_jobs()
    now = 1_000_000.0
    clock = stage.after.enter_context(patch.object(jobs_pane.time, "monotonic"))
    far = JobStatus(
        number=901,
        job=Job("Export sea_surface.json to sea_surface.zarr on tcp://node1:8786"),
        state=JobState.RUNNING,
        total=100_000,
        tasks_total=1_563,
        started=now - 754,
    )
    ended = replace(far, number=902, job=Job("Plot /ocean/sst"), state=JobState.DONE, total=12)
    lost = RefbrowserError(ErrorKind.SOURCE, "the scheduler does not answer any more")
    failed = replace(far, number=903, job=Job("Export 2019.json to 2019.zarr"), state=JobState.FAILED)
    statuses = [
        replace(ended, tasks_total=0, read_bytes=8_100_000, requests=12, started=now - 70, finished=now - 69),
        replace(failed, error=lost, done=40_100, tasks=630, started=now - 700, finished=now - 80),
    ]
    for second in range(-30, 1):
        clock.return_value = now + second
        done = 62_000 + 85 * second
        running = replace(
            far, done=done, tasks=done // 64, read_bytes=done * 2_000_000, requests=done + done // 7
        )
        stage.window.jobs.model.update([*statuses, running])
        statuses = []
    stage.window.jobs._update_buttons()
    stage.window.findChild(QAbstractItemView, "jobsView").selectRow(0)


# Documents


def metadata(
    name: str, shape: tuple[int, ...], chunks: tuple[int, ...], dtype: str, attributes: object
) -> dict[str, object]:
    """Return the metadata keys of an array."""
    array = {
        "zarr_format": 2,
        "shape": shape,
        "chunks": chunks,
        "dtype": dtype,
        "fill_value": None,
        "order": "C",
        "compressor": None,
        "filters": None,
    }
    return {f"{name}/.zarray": json.dumps(array), f"{name}/.zattrs": json.dumps(attributes)}


def one_array(values: np.ndarray[Any, Any], attributes: object) -> dict[str, object]:
    """Return a Version 0 document that holds an array whole."""
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}'}
    refs |= metadata("type", values.shape, values.shape, values.dtype.str, attributes)
    refs["type/" + ".".join("0" for _ in values.shape)] = values.tobytes().decode("latin-1")
    return refs


def far(stage: Stage) -> Path:
    """Return a document that wants to read from hosts; nothing is asked of them before it is allowed."""
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}'}
    refs |= metadata("field", (4, 4), (2, 4), "<f4", {"units": "K"})
    refs["field/0.0"] = ["https://data.example.org/field.nc", 0, 32]
    refs["field/1.0"] = ["s3://bucket/field.nc", 32, 32]
    return stage.write("far.json", {"version": 1, "refs": refs})


# Stores, and the netCDF data model


def buoys(stage: Stage) -> OpenDocument:
    """Open a store of NCZarr in a folder: two groups, typed attributes, one chunk missing."""
    root = stage.folder / "buoys.zarr"
    refs: Any = nczarr_document()["refs"]
    for key, text in refs.items():
        path = root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        is_data = text.startswith("base64:")
        path.write_bytes(base64.b64decode(text[7:]) if is_data else text.encode())
    (root / "deep/salt/0.0").unlink()
    document = stage.open(root)
    stage.settle()
    return document


@scene
def store(stage: Stage) -> None:
    stage.select(buoys(stage), "array", "/temp")


@scene
def dimension(stage: Stage) -> None:
    document = buoys(stage)
    stage.select(document, "array", "/temp")
    stage.select(document, "dimension", "/lat")


@scene
def compound(stage: Stage) -> None:
    stage.select(buoys(stage), "array", "/station")


@scene
def internal_members(stage: Stage) -> None:
    stage.select(buoys(stage), "array", "/temp")
    stage.trigger("toggle_internal")
    stage.settle()


@scene
def cdl(stage: Stage) -> None:
    stage.select(buoys(stage), "array", "/temp")
    stage.trigger("show_cdl")
    stage.settle()
    stage.type_over("cdlFind", "lat")
    stage.window.centre.cdl.text.setFocus()
    stage.settle()


@scene
def export_store(stage: Stage) -> QWidget:
    buoys(stage)
    dialog: Any = stage.dialog("export")
    for name, row in (("exportFormat", 2), ("exportContainer", 1), ("exportChunksKind", 1)):
        dialog.findChild(QComboBox, name).setCurrentIndex(row)
    dialog.findChild(QAbstractButton, "exportSkipBad").setChecked(True)
    dialog.findChild(QLineEdit, "exportTarget").setText("/data/buoys.zarr.zip")
    QTest.qWait(400)
    stage.settle()
    return dialog  # type: ignore[no-any-return]


@scene
def make_references(stage: Stage) -> QWidget:
    from refbrowser.exporting.making.made_references import Made
    from refbrowser.tools.make.making import Hindered, SourceFacts
    from refbrowser.tools.make.window.make_sheet import MakeSheet

    sheet = stage.dialog("make_references")
    assert isinstance(sheet, MakeSheet)
    rows = Hindered("/station", "90 string", "its elements are texts of variable length")
    lossy = "/station: its elements are texts of variable length; 90 values stand in the document"
    error = RefbrowserError(ErrorKind.FORMAT, "the file ends within its first bytes")
    names = ("model_2001.nc", "model_2002.nc", "surface.nc", "cut.nc", "events.h5")
    sheet.files.add([f"/data/{name}" for name in names])
    kinds = ("HDF5 and netCDF-4", "HDF5 and netCDF-4", "netCDF classic")
    for name, kind, bad in zip(names, kinds, (1, 0, 0), strict=False):
        sheet.files.tell(SourceFacts(f"/data/{name}", kind, 5, bad, (rows,) * bad))
        made = Made(
            source=f"/data/{name}",
            target=f"/data/{name}.refs.json",
            references=7_304,
            compared=14,
            losses=(lossy,) * bad,
        )
        sheet._got((made.source, made))
    sheet.files.tell(SourceFacts("/data/cut.nc", error=error))
    sheet.files.rows.put_trouble_first()
    sheet.files.expandAll()
    sheet.findChild(QLineEdit, "makeTarget").setText("/data/refs")  # type: ignore[union-attr]
    QTest.qWait(400)
    stage.settle()
    return sheet


@scene
def combine_files(stage: Stage) -> QWidget:
    from refbrowser.tools.make.window.combine_sheet import CombineSheet

    paths = []
    for number in range(12):
        refs: dict[str, Any] = {".zgroup": {"zarr_format": 2}, ".zattrs": {"title": "Sea surface"}}
        days = np.arange(30, dtype="<i4") + 30 * number + 30 * (number > 8)
        scale = 0.1 if number == 6 else 0.01
        for name, shape, dtype, attributes in (
            ("time", [30], "<i4", {"units": "days since 2001-01-01", "calendar": "360_day"}),
            ("sst", [30, 18, 36], "<i2", {"scale_factor": scale, "units": "degC"}),
        ):
            refs[f"{name}/.zarray"] = {
                "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype,
                "compressor": None, "filters": None, "fill_value": None, "order": "C",
            }  # fmt: skip
            refs[f"{name}/.zattrs"] = {
                "_ARRAY_DIMENSIONS": ["time", "lat", "lon"][: len(shape)],
                **attributes,
            }
        refs["time/0"] = "base64:" + base64.b64encode(days.tobytes()).decode()
        refs["sst/0.0.0"] = [f"s3://ocean/sst_2001_{number + 1:02d}.nc", 8_192, 38_880]
        paths.append(str(stage.write(f"sst_2001_{number + 1:02d}.json", refs)))
    sheet = stage.dialog("combine_files")
    assert isinstance(sheet, CombineSheet)
    sheet.add(paths)
    stage.wait(lambda: bool(sheet.differences.topLevelItemCount()))
    sheet._count.setText("12 files in /data")
    sheet.findChild(QLineEdit, "combineTarget").setText("/data/sst_combined.json")  # type: ignore[union-attr]
    QTest.qWait(400)
    stage.settle()
    return sheet


@scene
def compare(stage: Stage) -> QWidget:
    changed = json.loads((stage.folder / "sea_surface.json").read_text())
    refs = changed["refs"]
    refs["ocean/sst/.zattrs"] = refs["ocean/sst/.zattrs"].replace("degree_Celsius", "K")
    wind = [key for key in refs if key.startswith("atmosphere/wind_speed/") and isinstance(refs[key], list)]
    for number, key in enumerate(wind):
        if number % 9 == 1:
            refs[key][1] += 16
        elif number % 13 == 5:
            refs[key][2] -= 1
        elif number % 17 == 3:
            del refs[key]
    path = stage.write("repaired.json", changed)
    document = stage.open(stage.folder / "sea_surface.json")
    stage.settle()
    window = stage.window.groups[CompareCommands].compare(document, str(path))
    stage.settle()
    rows = window.list.rows.findItems("/atmosphere/wind_speed", Qt.MatchFlag.MatchRecursive)
    window.list.rows.setCurrentItem(rows[-1])
    stage.settle()
    return window


@scene
def fold_references(stage: Stage) -> QWidget:
    path = stage.folder / "ocean.json"
    files = [f"https://data.example.org/ocean/ocean_{1990 + n // 12}{n % 12 + 1:02d}.nc" for n in range(240)]
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
    for t, file in enumerate(files):
        refs |= {f"temp/{t}.{c}": [file, 20_480 + 14_400 * c, 14_400] for c in range(18)}
        refs |= {f"ice/{t}.{c}": [files[-1], 4_000_000 + (t * 18 + c) ** 2, 900 + c] for c in range(2)}
    path.write_text(json.dumps(refs))
    stage.open(path)
    stage.settle()
    sheet = stage.dialog("fold_references")
    stage.wait(sheet.findChild(QAbstractButton, "foldApplyButton").isEnabled)  # type: ignore[union-attr]
    stage.settle()
    return sheet


@scene
def as_codecs(stage: Stage) -> QWidget:
    array = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": -32768,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {"units": "K", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768},
        "dimension_names": ["time"],
    }
    refs = {
        "zarr.json": '{"zarr_format": 3, "node_type": "group"}',
        "temp/zarr.json": json.dumps(array),
        "temp/c/0": "base64:AAABAAIAAwA=",
    }
    stage.open(stage.write("packed.json", {"version": 1, "refs": refs}), "/temp")
    stage.settle()
    return stage.dialog("pack_otherwise")


@scene
def export_checked(stage: Stage) -> QWidget:
    from refbrowser.exporting.check import CheckItem, CheckReport, Program

    buoys(stage)
    dialog: Any = stage.dialog("export")
    items = [
        CheckItem("zarr-python", "/temp", "shape", True),
        CheckItem("zarr-python", "/temp", "values", True),
        CheckItem("zarr-python", "/deep/salt", "units", False, "1", "one"),
    ]
    dialog.checked.show_report(CheckReport((Program("zarr-python", "3.1"),), tuple(items)))
    dialog.checked.findChild(QAbstractButton, "exportCheckOnly").setChecked(False)
    dialog._pages.setCurrentWidget(dialog.checked)
    dialog.findChild(QAbstractButton, "exportSkipBad").setChecked(True)
    dialog.findChild(QLineEdit, "exportTarget").setText("/data/buoys.zarr")
    dialog._pages.setCurrentWidget(dialog.checked)
    QTest.qWait(400)
    stage.settle()
    dialog._pages.setCurrentWidget(dialog.checked)
    return dialog  # type: ignore[no-any-return]
