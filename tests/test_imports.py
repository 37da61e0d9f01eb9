"""Imports point down only, nothing below the window knows Qt, and no layer is part of a cycle."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import pytest
from source import NAMES, PACKAGE, Source, module_name

TESTS = Path(__file__).resolve().parent

#: Lowest first; a module may import its own layer and those before it.
LAYERS = [
    "version",
    "errors",
    "findings",
    "limits",
    "words",
    "markup",
    "plugins",
    "loading",
    "zstd",
    "bundled",
    "model",
    "references",
    "codecs",
    "io",
    "formats",
    "engine",
    "exporting",
    "views",
    "manifest_documents",
    "api",
    "xarray_backend",
    "manifest_stores",
    "parsers",
    "wings",
    "ncstream",
    "zarr_draft",
    "tools",
    "",
    "cli",
    "tools.verb",
    "wings.verbs",
    "app",
    "tools.window",
    "wings.window",
    "__main__",
]

#: Files of the window without Qt, with why. Commands of tools may only show sheets; what is called `work` is
#: done by jobs, in their threads.
WITHOUT_QT = {
    "refbrowser.app.plot.overlay_stack": "which overlays are on, whatever draws them",
    "refbrowser.app.plot.palette": "colours of the theme, and of the tables that the bar has",
    "refbrowser.app.actions.action_spec": "an action as a value",
    "refbrowser.app.actions.data_menu": "an action as a value",
    "refbrowser.app.plot.told_plot": "what a pane shows, as a value",
    "refbrowser.app.panes.tree_items": "rows as values; their icons are those of the theme",
    "refbrowser.app.actions.file_menu": "one menu, for a table that is long enough without it",
    "refbrowser.app.commands.groups": "which groups of commands a window has",
    "refbrowser.app.plot.kinds.line_kind": "draws with the layers of the canvas",
    "refbrowser.app.actions.menus": "what menus hold, as values: help and the list of shortcuts read it",
    "refbrowser.app.controller.compared_side": "which state of a document the window compares",
    "refbrowser.app.commands.findings": "a group of commands that only sends to panes",
    "refbrowser.app.controller.document_reading": "work of the window's jobs, in their threads",
    "refbrowser.app.controller.shared_session": "the session of the window, made when it is first wanted",
    "refbrowser.app.controller.work": "work of the window's jobs, in their threads",
    "refbrowser.wings.awkward0.window.document_awkward": "what a format knows of a document; its page draws",
    "refbrowser.wings.awkward0.window.expressions_link": "goes between a pane and the window",
    "refbrowser.app.facets.grib_messages": "only has a document read again",
    "refbrowser.app.facets.records": "what a format knows of a document",
    "refbrowser.wings.icechunk.window.commit_commands": "only shows a sheet",
    "refbrowser.wings.ncstream.window.remote_commands": "only opens a dialog",
    "refbrowser.wings.ncstream.window.stream_commands": "only sends to its page and dialogs",
    "refbrowser.wings.ncstream.window.document_stream": "what a format knows of a document; its page draws",
    "refbrowser.app.widgets.file_filters": "what dialogs that ask for files offer, as a text",
    "refbrowser.app.shell.format_places": "places what formats draw",
}
#: Names that rooms of formats, and folders of tools, share: the same part of each.
ROLES = {"opening", "hierarchy", "verb", "request", "report", "public", "commands"}
#: Small modules that one other imports at once, with why they stand alone.
ALONE = {
    "refbrowser.app.plot.told_plot": "a value, for a pane that is long enough without it",
    "refbrowser.tools.compare.chunk_blocks": "what is taken over together, known without Qt",
    "refbrowser.tools.compare.window.states_map": "a page of a window that is long enough without it",
    "refbrowser.app.panes.tree_dragging": "what Qt asks of rows that are dragged",
    "refbrowser.app.dialogs.session_bar": "a bar, for commands that are long enough without it",
    "refbrowser.app.panes.key_editor": "a field over a cell, for a pane that is long enough without it",
    "refbrowser.views.reference_queries.term_columns": "what a term means, apart from which rows are asked",
    "refbrowser.tools.figure.window.line_widths": "all that is known of pens of the plotting library",
    "refbrowser.model.multiscales.overviews": "a convention of its own, beside the others",
    "refbrowser.model.node_attributes": "a noun of its own, for a file that is long enough without it",
    "refbrowser.engine.array_protocol": "what numpy and loops ask of any array, apart from what one is",
    "refbrowser.views.notebook.dataset_text": "text for prompts, beside the HTML of the same",
    "refbrowser.engine.workers.worker_process": "a script, which starts before anything of ours is loaded",
    "refbrowser.app.plot.palette": "the colours of a plot, for a file that is long enough without them",
    "refbrowser.app.plot.overlay_stack": "what is switched, for a file that is long enough without it",
    "refbrowser.app.plot.projection_button": "a button with fields, for a head that is long enough",
    "refbrowser.app.plot.maps.grid_maker": "what finds places in a thread, beside what draws them",
    "refbrowser.app.arrangement.apart_window": "a window, for an area that is long enough without it",
    "refbrowser.app.commands.groups": "a list, for the window that makes them",
    "refbrowser.app.shell.preferences_in_force": "what becomes of preferences, apart from what these are",
    "refbrowser.app.shell.tool_places": "what tools add, as format_places has what formats add",
    "refbrowser.tools.audit.window.audit_dock": "a dock, apart from the commands that show it",
    "refbrowser.tools.bytes.report.cost_words": "words, for a pane of another layer",
    "refbrowser.tools.bytes.window.byte_docks": "docks, apart from the commands that show them",
    "refbrowser.tools.export.window.export_arrays": "a page of a dialog that would be too long with it",
    "refbrowser.tools.export.window.export_check": "a page of a dialog that would be too long with it",
    "refbrowser.formats.tiff.tiff_crs": "tables of another specification, that of projections",
    "refbrowser.wings.ncstream.remote.descriptions": "how a format is spelled, for a service",
    "refbrowser.engine.statistics.moments": "arithmetic, apart from what reads and counts",
    "refbrowser.views.regions.polygons": "geometry, apart from the coordinates of an array",
    "refbrowser.views.regions.region_cells": "what the engine asks of a region, apart from reading",
    "refbrowser.app.regions.region_items": "what is drawn, apart from what it is drawn for",
    "refbrowser.views.cdl_text": "a view, for a pane of another layer",
    "refbrowser.wings.dmrpp.checking.description_kinds": "a table, apart from what finds them",
    "refbrowser.wings.icechunk.views.snapshots": "a view, for a page of another layer",
    "refbrowser.exporting.combining.declared_mismatches": "what files lack, apart from what they differ in",
    "refbrowser.formats.leads.stac": "a format, beside the others that name files",
    "refbrowser.formats.leads.texts": "formats, beside the others that name files",
    "refbrowser.formats.grib_index.index_options": "options, which help asks for without what opens",
    "refbrowser.formats.options": "options, which help asks for without what opens",
    "refbrowser.wings.icechunk.reading.snapshot_options": "options, which help asks for without what opens",
    "refbrowser.wings.icechunk.history.request": "options, which help asks for without what runs",
    "refbrowser.wings.icechunk.manifests.request": "options, which help asks for without what runs",
    "refbrowser.wings.awkward0.reading.awkward0_options": "options, which help asks for without what opens",
}
#: Folders of tests that are of no one room, with why.
OF_ALL_ROOMS = {
    "benchmarks": "measured by hand, no tests",
    "corpus": "run by hand over a folder of files, no tests",
    "contracts": "what every format keeps, read and written",
    "end_to_end": "the program as users start it",
    "pictures": "the whole window, drawn and compared",
    "reader_corpus": "small stores for those who judge readers, no tests",
    "safety": "hostile files, through every room",
    "servers": "what tests read from",
}
#: Layers of the window.
WINDOW = ("app", "tools.window", "wings.window")

#: Where rows of tables name modules of wings, as text.
TABLES = {"refbrowser.formats.registry", "refbrowser.formats.store_rules", "refbrowser.tools.registry"}
#: What programs import of a wing.
FRONTS = {"refbrowser", "refbrowser.ncstream", "refbrowser.zarr_draft"}

QT_NAMES = {"PySide6", "pyqtgraph", "shiboken6"}


def layer_of(module: str) -> str:
    parts = module.split(".")
    if parts[1:2] == ["tools"]:
        # Its table is below the command line and the window, what it shows in these above them.
        return "tools.window" if "window" in parts else "tools.verb" if parts[-1] == "verb" else "tools"
    if parts[1:2] == ["wings"]:
        return next((f"wings.{name}" for name in ("window", "verbs") if name in parts), "wings")
    return parts[1] if len(parts) > 1 else ""


@pytest.mark.slow
def test_imports_point_down(sources: list[Source]) -> None:
    upward = []
    for source in sources:
        module = source.module
        layer = layer_of(module)
        assert layer in LAYERS, f"{module} is in no layer"
        for imported in sorted(source.imports):
            if imported.split(".")[0] != "refbrowser":
                continue
            other = layer_of(imported)
            if LAYERS.index(other) > LAYERS.index(layer):
                upward.append(f"{module} imports {imported}, which is above it")
    assert not upward


def wing_of(module: str) -> str:
    """Return the wing that a module is of; empty for one of the core."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["refbrowser", "wings"] and len(parts) > 2 else ""


def other_wings(source: Source) -> set[str]:
    """Return the modules of wings that one of the core, or of another wing, imports or names."""
    named = source.imports | (set() if source.module in TABLES else source.texts - source.docs)
    return {
        name
        for name in named
        if re.match(r"refbrowser\.wings\b", name) and wing_of(name) != wing_of(source.module)
    }


def test_wings_are_known_by_their_rows_alone(sources: list[Source]) -> None:
    knowing = {
        source.module: names
        for source in sources
        if source.module not in FRONTS and (names := other_wings(source))
    }
    assert knowing == {}


def test_other_wings_are_found() -> None:
    def named(module: str, imports: set[str], *texts: str) -> set[str]:
        path = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
        return other_wings(Source(path, 1, imports=imports, texts=set(texts)))

    assert named("refbrowser.engine.dataset", {"refbrowser.wings.a.reading"}) == {
        "refbrowser.wings.a.reading"
    }
    assert named("refbrowser.wings.b.reading", {"refbrowser.wings.a"}) == {"refbrowser.wings.a"}
    assert named("refbrowser.engine.dataset", set(), "refbrowser.wings.a.b:c") == {"refbrowser.wings.a.b:c"}
    assert not named("refbrowser.formats.registry", set(), "refbrowser.wings.a.b:c")
    assert not named("refbrowser.wings.a.reading", {"refbrowser.wings.a.writing", "refbrowser.engine.jobs"})


def test_what_is_named_as_text_is_loaded_in_one_place(sources: list[Source]) -> None:
    loading = {source.module for source in sources if "resolve_name" in source.names}
    assert loading == set(), "refbrowser/loading.py says where a wing is missing"


def test_only_the_window_knows_qt(sources: list[Source]) -> None:
    knowing = {
        source.module
        for source in sources
        if layer_of(source.module) not in WINDOW
        and QT_NAMES & {name.split(".")[0] for name in source.imports}
    }
    assert not knowing


def circles(graph: Mapping[str, Set[str]]) -> list[list[str]]:
    """Return the groups of modules each of which leads to all the others of its group."""

    def reached(start: str) -> set[str]:
        seen, todo = set(), [start]
        while todo:
            for target in graph[todo.pop()] - seen:
                seen.add(target)
                todo.append(target)
        return seen

    below = {module: reached(module) for module in graph}
    groups = {frozenset({a} | {b for b in below[a] if a in below[b]}) for a in graph if a in below[a]}
    return sorted(map(sorted, groups))


def test_no_circle_among_modules(sources: list[Source]) -> None:
    # Annotations count: files that name each other's types are understood together only.
    graph = {
        source.module: {
            name
            for name in source.imports & NAMES
            # Packages that it lies in, and itself, are imported with it.
            if not f"{source.module}.".startswith(f"{name}.")
        }
        for source in sources
    }
    assert circles(graph) == []


def test_no_circle_among_folders(sources: list[Source]) -> None:
    packages = {source.module for source in sources if source.path.stem == "__init__"}
    graph: dict[str, set[str]] = {}
    for source in sources:
        folder = source.module.rpartition(".")[0]
        if source.path.stem == "__init__":
            continue
        # What is imported from a folder names the folder, too.
        others = {
            name.rpartition(".")[0] for name in source.imports & NAMES - packages if name.count(".") > 1
        }
        graph.setdefault(folder, set()).update(others - {folder})
    graph |= {folder: set() for others in list(graph.values()) for folder in others if folder not in graph}
    assert circles(graph) == []


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": {"e"}, "f": set()}
    assert circles(graph) == [["a", "b", "c"], ["e"]]


def test_every_file_of_the_window_knows_qt(sources: list[Source]) -> None:
    # What needs no Qt is a view, or belongs to what uses it.
    without = {
        source.module
        for source in sources
        if layer_of(source.module) in WINDOW
        and not source.module.endswith((".window.commands", "_work"))
        and not QT_NAMES & {name.split(".")[0] for name in source.imports}
    }
    packages = {module_name(path) for path in PACKAGE.rglob("__init__.py")}
    assert without - packages - set(WITHOUT_QT) == set()
    assert set(WITHOUT_QT) <= without, "one that knows Qt now, or is gone, is to be taken off the list"


def test_names_of_modules_occur_once_in_a_layer() -> None:
    named: dict[tuple[str, str], list[str]] = {}
    for module in NAMES - {module_name(path) for path in PACKAGE.rglob("__init__.py")}:
        if module.count(".") > 1:
            layer = wing_of(module) or layer_of(module)
            named.setdefault((layer, module.rsplit(".", 1)[1]), []).append(module)
    again = {name: sorted(modules) for (layer, name), modules in named.items() if len(modules) > 1}
    in_rooms = {
        name
        for name, modules in again.items()
        if name in ROLES and len({module.rpartition(".")[0] for module in modules}) == len(modules)
    }
    assert {name: modules for name, modules in again.items() if name not in in_rooms} == {}


def test_names_of_public_classes_occur_once_in_a_layer(sources: list[Source]) -> None:
    named: dict[tuple[str, str], list[str]] = {}
    for source in sources:
        for name in source.public_classes:
            layer = wing_of(source.module) or layer_of(source.module)
            named.setdefault((layer, name), []).append(source.module)
    assert {name: modules for name, modules in named.items() if len(modules) > 1} == {}


def test_a_small_module_for_one_other_has_a_reason(sources: list[Source]) -> None:
    # One of 150 lines is a noun of its own; one that is imported in a function is loaded late.
    users: dict[str, list[Source]] = {}
    for source in sources:
        for imported in source.imports & NAMES:
            users.setdefault(imported, []).append(source)
    # Commands are made by the window, which finds them in the table of tools.
    known = ("__init__", "commands")
    small = {source.module for source in sources if source.path.stem not in known and source.lines < 150}
    alone = {
        module
        for module, by in users.items()
        if len(by) == 1 and by[0].path.stem != "__init__" and module in small & by[0].at_once
    }
    assert alone - set(ALONE) == set()
    assert set(ALONE) <= alone, "one that is merged, grown or shared now is to be taken off the list"


def test_files_stay_below_seven_hundred_lines(sources: list[Source]) -> None:
    assert not {source.module: source.lines for source in sources if source.lines >= 700}


def test_each_folder_of_tests_names_a_room() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("*.py")} - {Path()}
    strange = {
        str(folder)
        for folder in folders
        if not (PACKAGE / folder).is_dir() and folder.parts[0] not in OF_ALL_ROOMS
    }
    assert not strange, "tests of a room are in the folder of its name"
    assert set(OF_ALL_ROOMS) <= set(map(str, folders)), "one that is gone is to be taken off the list"


#: Where formats are at home: their folders, what exports write, their parts of engine and window.
ROOMS = (
    "refbrowser.wings.",
    "refbrowser.formats.",
    "refbrowser.exporting.",
    "refbrowser.engine.nested.",
)
#: Modules outside of them that still say the name of a format, with why; there are to be fewer.
NAMING = {
    "refbrowser": "the name of a module of ours",
    "refbrowser.io.origins": "the scheme of URLs",
    "refbrowser.references.content.content": "the form of a text, as it was read",
    "refbrowser.model.flavour": "what `--as` takes, stores are written as",
    "refbrowser.model.nodes": "the format of an array's metadata: goes with the data types",
    "refbrowser.codecs.pipeline": "the format of an array's metadata: goes with the table of codecs",
    "refbrowser.codecs.lending": "the format of an array's metadata: whose codecs are registered",
    "refbrowser.engine.node_metadata": "the format of an array's metadata: goes with the documents",
    "refbrowser.tools.readers.probes.installed": "names of packages that read",
    "refbrowser.tools.readers.probes.reader_child": "runs alone: what packages that read are asked for",
}


def named_formats(source: Source) -> Iterator[str]:
    """Yield the formats that code names, and what it looks at behind an origin of a document."""
    from refbrowser.formats.registry import AWKWARD0, SERVICE, STREAM, written

    yield from source.texts & {AWKWARD0.name, SERVICE.name, STREAM.name, *written()}
    yield from source.names & {"AWKWARD0", "SERVICE", "STREAM"}
    for asked, text in source.asked:
        if asked == "isinstance":
            if any(origin in text for origin in ("StreamOrigin", "RemoteOrigin", "Awkward0Origin")):
                yield text
        elif "derived" in text or "origin" in text:
            yield text


def test_formats_are_named_in_their_own_rooms(sources: list[Source]) -> None:
    found = {
        source.module: names
        for source in sources
        if not source.module.startswith(ROOMS) and (names := set(named_formats(source)))
    }
    assert {module: names for module, names in found.items() if module not in NAMING} == {}
    assert set(NAMING) == set(found), "one that names none any more is to be taken off the list"


#: Modules of the core, beside the tables, that say the name of a format of a wing, with why.
NAMING_WINGS = {
    "refbrowser": "the name of a module of ours",
    "refbrowser.io.origins": "the scheme of URLs",
    "refbrowser.tools.readers.probes.installed": "names of packages that read",
    "refbrowser.tools.readers.probes.reader_child": "runs alone: what packages that read are asked for",
}


def test_the_core_names_no_format_of_a_wing(sources: list[Source]) -> None:
    from refbrowser.formats import registry

    def is_of_wing(*modules: str) -> bool:
        return any(module.startswith("refbrowser.wings.") for module in modules)

    own = {name: format for name, format in vars(registry).items() if format in registry.BUILT_IN}
    constants = {name for name, format in own.items() if is_of_wing(format.opener)}
    names = {format.name for format in registry.BUILT_IN if is_of_wing(format.opener)}
    names |= {form.name for form in registry.written().values() if is_of_wing(form.target, form.layout)}
    assert len(constants) >= 4
    assert len(names) >= 5
    found = {
        source.module
        for source in sources
        if not wing_of(source.module) and source.module not in TABLES
        if (source.texts - source.docs) & names or source.names & constants
    }
    assert found == set(NAMING_WINGS)


def test_nobody_names_what_single_formats_add_to_the_window(sources: list[Source]) -> None:
    # They are asked for by `Format.facets` and `Format.pages`, and placed by the window.
    general = {"refbrowser.app.facets", "refbrowser.app.workspace.workspace"}
    naming = {
        source.module: named
        for source in sources
        if not source.module.startswith("refbrowser.app.facets.")
        and (named := {name for name in source.imports if name.startswith("refbrowser.app.facets")} - general)
    }
    assert naming == {}


#: Modules outside of `references` and the rooms of formats that look behind a document, with why.
LOOKING = {
    "refbrowser.app.controller.edited_document": "tells whether it is another file than before, and no more",
}


def looks_behind_documents(source: Source) -> Iterator[str]:
    """Yield where code asks for the kind of a document, or for what one was made from."""
    yield from (text for text in source.behind if re.search(r"\b(document|state)\.origin$", text))
    yield from (text for text in source.behind if not text.endswith(".origin"))
    kinds = re.compile(r"\b(ManifestDocument|ReferenceDocument|ReferenceText|StoreOrigin|FileOrigin)\b")
    yield from (text for asked, text in source.asked if asked == "isinstance" and kinds.search(text))


def test_nothing_looks_behind_a_document(sources: list[Source]) -> None:
    # Both kinds of documents answer by themselves what is asked of them.
    rooms = {*ROOMS, "refbrowser.references.", "refbrowser.exporting.targets.", "refbrowser.views.derived."}
    rooms -= {"refbrowser.exporting."}
    found = {
        source.module: names
        for source in sources
        if not source.module.startswith(tuple(rooms)) and (names := set(looks_behind_documents(source)))
    }
    assert {module: names for module, names in found.items() if module not in LOOKING} == {}
    assert set(LOOKING) == set(found), "one that looks no more is to be taken off the list"


def test_only_the_frame_knows_the_window(sources: list[Source]) -> None:
    knowing = {source.module for source in sources if "MainWindow" in source.names}
    assert knowing == {"refbrowser.app.shell.launch"}, "its parts know the workspace"


def test_a_folder_has_at_most_25_modules() -> None:
    packages = {module_name(path) for path in PACKAGE.rglob("__init__.py")}
    sizes = Counter(module.rpartition(".")[0] for module in NAMES - packages)
    assert {folder: size for folder, size in sizes.items() if size > 25} == {}


#: Where the kinds of an array's values are told apart, with why; others ask values, nodes or readings.
TELLING_KINDS = {"refbrowser.engine.reading_kinds": "finds what reads arrays of a kind"}
KINDS = {"Values", "NoValues", "Chunks", "Pieces", "Rows"}


def told_kinds(tree: ast.AST) -> Iterator[str]:
    """Yield the kinds of values that code tests for."""
    known = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "refbrowser.model.values"
        for alias in node.names
        if alias.name in KINDS
    }
    for node in ast.walk(tree):
        tested: list[ast.AST] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("isinstance", "issubclass", "type"):
                tested = list(node.args[1:])
        elif isinstance(node, ast.MatchClass):
            tested = [node.cls]
        elif isinstance(node, ast.Compare):
            tested = list(node.comparators)
        for each in tested:
            yield from (name.id for name in ast.walk(each) if isinstance(name, ast.Name) and name.id in known)


@pytest.mark.slow
def test_kinds_of_values_are_told_apart_in_one_place(sources: list[Source]) -> None:
    found = {
        source.module: set(told_kinds(ast.parse(source.path.read_text("utf-8"))))
        for source in sources
        if "refbrowser.model.values" in source.imports
    }
    telling = {module: kinds for module, kinds in found.items() if kinds}
    assert {module: kinds for module, kinds in telling.items() if module not in TELLING_KINDS} == {}
    assert set(TELLING_KINDS) == set(telling), "one that tells none any more is to be taken off the list"


def test_told_kinds_are_found() -> None:
    code = (
        "from refbrowser.model.values import Chunks, Pieces as P, Rows\n"
        "isinstance(a, P | None); type(a) is Chunks\n"
        "match a:\n    case Rows(): pass\n"
        "Chunks(grid=b)"
    )
    assert sorted(told_kinds(ast.parse(code))) == ["Chunks", "P", "Rows"]
    assert not list(told_kinds(ast.parse("from refbrowser.model.data_type import Rows\nisinstance(a, Rows)")))


#: Where work off the window's thread is no request of which the newest wins, with why.
JOBS = {
    "refbrowser.app.tasks.latest": "all other work goes through it",
    "refbrowser.app.commands.colours": "reads a colour table, of no document",
    "refbrowser.app.commands.files": "writes a file",
    "refbrowser.app.commands.plotting": "writes files, which do not end each other",
    "refbrowser.app.commands.values": "writes files, which do not end each other",
    "refbrowser.app.commands.saving": "the beginning of a save: that of another document does not end it",
    "refbrowser.app.controller.document_files": "saves",
    "refbrowser.app.controller.edited_document": "makes an edit; keeps a permission",
    "refbrowser.app.controller.followers": "removes a journal, also when its document is closed meanwhile",
    "refbrowser.app.dialogs.working_dialog": "exports, checks results, makes references; goes on without it",
    "refbrowser.app.editors.drafts": "makes an edit of all that is typed",
    "refbrowser.wings.ncstream.window.service_commands": "starts a service",
    "refbrowser.wings.ncstream.window.stream_dialogs": "writes a stream",
    "refbrowser.tools.audit.window.commands": "writes a file",
    "refbrowser.tools.figure.window.commands": "writes files, which do not end each other",
    "refbrowser.tools.figure.window.film_job": "writes films, which do not end each other",
    "refbrowser.tools.figure.window.off_screen": "writes one film, and waits for it",
    "refbrowser.app.shell.drops": "loads libraries, which stay",
    "refbrowser.app.shell.following": "looks for lost edits, once",
    "refbrowser.app.shell.main_window": "has names of Qt asked for, once",
    "refbrowser.app.commands.sessions": "looks for what lost windows showed, once",
    "refbrowser.app.window_states.kept_window": "writes what is shown; a newer state replaces it",
    "refbrowser.app.shell.tool_places": "looks for tools and kinds of plots of other packages, once",
}


def test_work_off_the_thread_is_asked_for_by_latest(sources: list[Source]) -> None:
    running = {
        source.module
        for source in sources
        if layer_of(source.module) in WINDOW and re.search(r"\btasks\.run\(", source.path.read_text("utf-8"))
    }
    assert running - set(JOBS) == set(), "what was asked before is ended by app/tasks/latest.py"
    assert set(JOBS) <= running, "one that runs none any more is to be taken off the list"


#: Modules whose functions give and read options as they are declared: what verbs and sheets are made of.
DECLARATIONS = {"refbrowser.exporting.option_fields"}


def functions_called(tree: ast.AST) -> Iterator[str]:
    """Yield the functions of engine and exports that code imports; classes are types, or requests."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith(("refbrowser.engine", "refbrowser.exporting"))
            and node.module not in DECLARATIONS
        ):
            yield from (alias.name for alias in node.names if alias.name[0].islower())


def calling(sources: list[Source], *layers: str) -> dict[str, set[str]]:
    """Return the functions of engine and exports that modules of some layers call, by module."""
    return {
        source.module: names
        for source in sources
        if layer_of(source.module) in layers
        and (names := set(functions_called(ast.parse(source.path.read_text("utf-8")))))
    }


def test_verbs_call_the_functions_of_their_tools(sources: list[Source]) -> None:
    found = calling(sources, "tools.verb")
    assert found == {}, "what a verb does, programs can do: by what `import refbrowser` gives"


def test_windows_call_the_functions_of_their_tools(sources: list[Source]) -> None:
    found = calling(sources, "tools.window", "wings.window")
    assert found == {}, "what a window has done is in the folder of its tool"


#: Functions of engine and exports that the window calls, by why neither tools nor `import refbrowser` have
#: them: they are steps of an editor. There are to be fewer.
STEPS = {
    "attributes and metadata as they are typed, which become an edit that can be undone; "
    "`with_attributes` gives programs another dataset instead": {
        "attributes_edit", "attributes_key", "count_words", "metadata_fault", "offered", "read_metadata",
        "suggested", "value_as", "value_in",
    },
    "what is open is saved with its edits, in place, and stays open; programs write another file": {
        "portable_document", "proposed_version", "save_into_store", "save_preview", "store_change",
        "take_lock_along", "unrecorded", "with_consolidated", "write_document",
    },
    "documents are opened with the one session of the window, and with what the user allowed before": {
        "collected_later", "dataset_of", "packages_wanted", "sources_of",
    },
    "edits that a lost process did not save": {"find_recoveries", "lost_documents"},
    "the list of problems follows each edit, and what failed while it was shown; `check` looks once": {
        "collect", "failures_of", "finding_of_opening", "turns_of",
    },
    "missing chunks, and files that no reference leads to any more, are found behind what is shown": {
        "files_of", "list_store",
    },
    "what is on the screen is read as fast as it is looked at, and confirmed after that": {
        "confirm_later", "is_far", "python_values", "read_rows", "unread_error",
    },
    "one entry of a document as text, for the clipboard": {"reference_of", "written_value"},
}  # fmt: skip


def test_the_window_calls_what_programs_can_call(sources: list[Source]) -> None:
    found = {name for names in calling(sources, "app").values() for name in names}
    steps = {name for names in STEPS.values() for name in names}
    assert found - steps == set(), "what a tool does, the window has done by the functions of the tool"
    assert steps <= found, "one that is called no more is to be taken off the list"


#: The same of the command line.
OF_COMMANDS = {
    "open_document": "a document without its hierarchy, which takes longer; functions of tools take it so",
}


def test_the_command_line_calls_what_programs_can_call(sources: list[Source]) -> None:
    found = {name for names in calling(sources, "cli", "wings.verbs").values() for name in names}
    assert found - set(OF_COMMANDS) == set(), "what a command does, programs can do"
    assert set(OF_COMMANDS) <= found, "one that is called no more is to be taken off the list"


def test_functions_that_are_called_are_found() -> None:
    code = "from refbrowser.engine.opening import OpenRequest, open_dataset\nfrom refbrowser.io.plan import f"
    assert list(functions_called(ast.parse(code))) == ["open_dataset"]
