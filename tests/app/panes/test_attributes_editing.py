"""Attributes edited in place and metadata edited as JSON, through the attributes pane."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot
from small_documents import METADATA, small_document

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JsonField
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.panes.attributes_pane import METADATA as METADATA_TAB
from refbrowser.app.panes.attributes_tree import NAME, VALUE, AttributesTree
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.rows import OutcomeLine

CONTROL = Qt.KeyboardModifier.ControlModifier


class Place:
    """One document in the window, and hands on its attributes pane."""

    def __init__(self, window: MainWindow, document: OpenDocument, qtbot: QtBot, settle: Callable[[], None]):
        self.window, self.document, self.qtbot, self.settle = window, document, qtbot, settle
        self.pane = window.attributes
        self.tree: AttributesTree = self.pane.tree
        self.before = document.document.to_bytes()

    def select(self, path: str) -> None:
        self.window.hierarchy.select_node(self.document, path)
        self.settle()
        self.qtbot.waitUntil(lambda: bool(self.pane._texts))

    def values(self) -> dict[str, str]:
        return self.pane.values()

    def inline(self, key: str) -> Any:
        return json.loads(self.document.document.expansion.value(key))

    def open_by_double_click(self, name: str, column: int) -> QLineEdit:
        index = self.tree.index_of(name, column)
        self.tree.scrollTo(index)
        where = self.tree.visualRect(index).center()
        QTest.mouseClick(self.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
        QTest.mouseDClick(self.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
        return self.cell()

    def cell(self) -> QLineEdit:
        found = [line for line in self.tree.findChildren(QLineEdit, "attributeCell") if line.isVisible()]
        assert found, "no cell is edited"
        return found[-1]

    def cells(self) -> list[QLineEdit]:
        return [line for line in self.tree.findChildren(QLineEdit, "attributeCell") if line.isVisible()]

    def type_in(self, text: str, end: Qt.Key = Qt.Key.Key_Return) -> None:
        cell = self.cell()
        cell.selectAll()
        if text:
            QTest.keyClicks(cell, text)
        else:
            QTest.keyClick(cell, Qt.Key.Key_Delete)
        QTest.keyClick(cell, end)

    def beside(self) -> str:
        label = self.tree.findChild(QLabel, "attributeOutcome")
        return label.text() if label.isVisible() else ""

    def focus(self, name: str) -> None:
        self.tree.choose(name)
        self.tree.setFocus()

    def steps(self) -> list[str]:
        return list(self.document.history.entries)

    def undo_all(self) -> None:
        while self.document.can_undo:
            self.document.undo()
        assert self.document.document.to_bytes() == self.before

    # Metadata

    def show_metadata(self, key: str | None = None) -> JsonField:
        self.pane.tabs.setCurrentIndex(METADATA_TAB)
        if key is not None:
            self.pane.metadata.choose(key)
        return self.field()

    def field(self) -> JsonField:
        return self.window.findChild(JsonField, "metadataText")

    def replace(self, old: str, new: str) -> None:
        """Select a part of the metadata and type over it."""
        field = self.field()
        field.setFocus()
        cursor = field.textCursor()
        start = field.text().index(old)
        cursor.setPosition(start)
        cursor.setPosition(start + len(old), cursor.MoveMode.KeepAnchor)
        field.setTextCursor(cursor)
        QTest.keyClicks(field, new)

    def outcome(self) -> str:
        return self.window.findChild(OutcomeLine, "metadataOutcome").text()

    def note(self) -> str:
        label = self.window.findChild(QLabel, "metadataNote")
        return label.text() if label.isVisibleTo(self.pane) else ""

    def button(self, name: str) -> QPushButton:
        return self.window.findChild(QPushButton, name)


Make = Callable[..., Place]


@pytest.fixture
def place(
    window: MainWindow, opened: Any, qtbot: QtBot, settle: Callable[[], None], tmp_path: Path
) -> Iterator[Make]:
    """Return what opens a document in the window and selects one of its nodes."""

    def make(contents: Any, path: str = "/temp", **changes: Any) -> Place:
        (tmp_path / "data.bin").write_bytes(bytes(range(56)))
        if isinstance(contents, dict):
            contents = json.dumps(contents, indent=1)
        file = tmp_path / "edited.json"
        file.write_text(contents)
        document = opened(file)
        settle()
        found = Place(window, document, qtbot, settle)
        found.select(path)
        return found

    return make


def document_v3() -> dict[str, Any]:
    array = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {"units": "m"},
        "dimension_names": ["x"],
    }
    group = {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": {"title": "t"},
        "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": {"h": array}},
    }
    return {
        "zarr.json": json.dumps(group),
        "h/zarr.json": json.dumps(array),
        "h/c/0": ["data.bin", 0, 4],
    }


class TestWhatIsShown:
    @pytest.mark.slow
    def test_an_array_with_its_sizes_and_chunks(self, place: Make) -> None:
        values = place(small_document()).values()
        assert values["units"] == "K"
        assert values["Dimensions"] == "y 4, x 6"
        assert "_ARRAY_DIMENSIONS" not in values
        assert values["Shape"].startswith("4")
        assert values["Stored chunks"] == "all 4"
        assert values["Stored size"] == "48 B"
        assert values["Decoded size"] == "48 B"

    @pytest.mark.slow
    def test_missing_chunks_are_counted(self, place: Make) -> None:
        contents = small_document()
        del contents["refs"]["depth/1"]  # type: ignore[attr-defined]
        values = place(contents, "/depth").values()
        assert values["Stored chunks"] == "1, 1 missing"
        assert values["Stored size"] == "4 B"

    @pytest.mark.slow
    def test_chunks_of_every_kind(self, place: Make) -> None:
        contents: Any = small_document()
        contents["refs"] |= {"depth/0": ["data.bin"], "depth/1": "base64:AAECAw=="}
        assert place(contents, "/depth").values()["Stored size"] == "1 whole file and 1 in the document"

    @pytest.mark.slow
    def test_an_unknown_codec(self, place: Make) -> None:
        contents = small_document()
        metadata = {**METADATA, "fill_value": 0, "order": "C", "compressor": {"id": "mystery", "level": 3}}
        contents["refs"]["temp/.zarray"] = json.dumps(metadata)  # type: ignore[index]
        found = place(contents)
        values = found.values()
        assert "mystery" in values["Not readable"]
        assert values["Codecs"] == "mystery(level=3)"
        found.open_by_double_click("units", VALUE)
        found.type_in("m")
        assert found.inline("temp/.zattrs")["units"] == "m"

    @pytest.mark.slow
    def test_text_that_would_read_as_something_else_stands_in_quotes(self, place: Make) -> None:
        contents = small_document()
        contents["refs"]["temp/.zattrs"] = '{"a": "5", "b": 5, "c": "[mg]", "d": null}'  # type: ignore[index]
        values = place(contents).values()
        assert [values[name] for name in "abcd"] == ['"5"', "5", '"[mg]"', "null"]


class TestAttributes:
    @pytest.mark.slow
    def test_a_value_is_typed_over_by_double_click(self, place: Make) -> None:
        found = place(small_document())
        for typed, value in (
            ("degC", "degC"),
            ("0.01", 0.01),
            ("-3", -3),
            ("[1, 2.5]", [1, 2.5]),
            ("true", True),
            ("null", None),
            ('"5"', "5"),
            ('{"a": [1]}', {"a": [1]}),
            ("", ""),
            ("days since 2000-01-01", "days since 2000-01-01"),
        ):
            found.open_by_double_click("units", VALUE)
            found.type_in(typed)
            assert found.inline("temp/.zattrs") == {"_ARRAY_DIMENSIONS": ["y", "x"], "units": value}
            assert type(found.inline("temp/.zattrs")["units"]) is type(value)
            assert found.steps() == ["Change attribute units of /temp"]
            found.settle()
            assert found.document.hierarchy.find("/temp").attributes["units"] == value
            found.undo_all()
            found.settle()

    @pytest.mark.slow
    def test_by_keyboard_alone(self, place: Make) -> None:
        found = place(small_document())
        found.focus("units")
        QTest.keyClick(found.tree, Qt.Key.Key_Return)
        assert found.cell().text() == "K"
        found.type_in("m")
        found.settle()
        assert found.values()["units"] == "m"
        assert found.tree.current_attribute() == "units"
        found.focus("units")
        QTest.keyClick(found.tree, Qt.Key.Key_F2)
        assert found.cell().text() in ("units", "m")
        QTest.keyClick(found.cell(), Qt.Key.Key_Escape)
        assert not found.cells()
        assert len(found.steps()) == 1

    @pytest.mark.slow
    def test_what_cannot_be_is_refused_beside_the_field(self, place: Make) -> None:
        found = place(small_document())
        found.open_by_double_click("units", VALUE)
        found.type_in("[1, 2")
        assert found.cells(), "the cell was closed"
        assert found.beside().startswith("✕ column 6: ")
        assert found.steps() == []
        found.type_in("[1, 2]")
        assert not found.cells()
        assert found.inline("temp/.zattrs")["units"] == [1, 2]

    @pytest.mark.slow
    def test_what_it_comes_to_stands_beside_the_field(self, place: Make) -> None:
        found = place(small_document())
        cell = found.open_by_double_click("units", VALUE)
        cell.selectAll()
        QTest.keyClicks(cell, "12")
        assert found.beside() == "→ number: int, was char"
        QTest.keyClicks(cell, "m")
        assert found.beside() == "→ text"
        QTest.keyClick(cell, Qt.Key.Key_Escape)
        assert found.beside() == ""
        assert found.steps() == []

    @pytest.mark.slow
    def test_renaming_keeps_the_place(self, place: Make) -> None:
        contents = small_document()
        contents["refs"]["temp/.zattrs"] = '{"a": 1.50,  "b": [1,2],\t"c": "x"}'  # type: ignore[index]
        found = place(contents)
        found.open_by_double_click("b", NAME)
        found.type_in("long_name")
        assert list(found.inline("temp/.zattrs")) == ["a", "long_name", "c"]
        raw = found.document.document.expansion.value("temp/.zattrs")
        assert b'"a": 1.50' in raw
        found.settle()
        assert found.tree.current_attribute() == "long_name"
        found.undo_all()

    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "reason"), [("units", "an attribute of this name"), ("", "no name")])
    def test_a_name_that_cannot_be(self, place: Make, name: str, reason: str) -> None:
        found = place(small_document())
        found.window.preferences.set("internal", True)
        found.open_by_double_click("_ARRAY_DIMENSIONS", NAME)
        found.type_in(name)
        assert reason in found.beside()
        assert found.steps() == []

    @pytest.mark.slow
    def test_insert_adds_name_then_value(self, place: Make) -> None:
        found = place(small_document())
        found.focus("units")
        QTest.keyClick(found.tree, Qt.Key.Key_Insert)
        found.type_in("scale_factor")
        found.qtbot.waitUntil(lambda: bool(found.cells()))
        found.type_in("0.5")
        assert found.inline("temp/.zattrs")["scale_factor"] == 0.5
        assert found.steps() == ["Add attribute scale_factor of /temp"]
        found.settle()
        assert found.tree.current_attribute() == "scale_factor"
        found.undo_all()

    @pytest.mark.slow
    def test_an_attribute_that_was_begun_is_given_up(self, place: Make) -> None:
        found = place(small_document())
        names = found.tree.names()
        found.window.findChild(QToolButton, "attributeAdd").click()
        QTest.keyClick(found.cell(), Qt.Key.Key_Escape)
        assert found.tree.names() == names
        assert "" not in found.values()
        found.window.findChild(QToolButton, "attributeAdd").click()
        found.type_in("name")
        found.qtbot.waitUntil(lambda: bool(found.cells()))
        QTest.keyClick(found.cell(), Qt.Key.Key_Escape)
        assert "name" not in found.values()
        assert found.steps() == []

    @pytest.mark.slow
    def test_delete_removes(self, place: Make) -> None:
        found = place(small_document())
        found.focus("units")
        QTest.keyClick(found.tree, Qt.Key.Key_Delete)
        assert found.inline("temp/.zattrs") == {"_ARRAY_DIMENSIONS": ["y", "x"]}
        found.settle()
        assert "units" not in found.values()
        found.undo_all()

    @pytest.mark.slow
    def test_keys_belong_to_the_attributes_while_they_have_the_keyboard(self, place: Make) -> None:
        found = place(small_document())
        found.window.centre.references.go_to_key("temp/.zattrs")
        found.settle()
        found.window.activateWindow()
        QTest.qWaitForWindowActive(found.window)
        found.focus("units")
        window = found.window.windowHandle()
        QTest.keyClick(window, Qt.Key.Key_F2)
        assert found.cell().text() == "units"
        QTest.keyClick(found.cell(), Qt.Key.Key_Escape)
        QTest.keyClick(window, Qt.Key.Key_Delete)
        assert found.inline("temp/.zattrs") == {"_ARRAY_DIMENSIONS": ["y", "x"]}
        assert found.steps() == ["Remove attribute units of /temp"]

    @pytest.mark.slow
    def test_other_rows_are_not_edited(self, place: Make) -> None:
        found = place(small_document())
        section = found.tree.model().index(1, 0)
        for row in range(found.tree.model().rowCount(section)):
            index = found.tree.model().index(row, VALUE, section)
            where = found.tree.visualRect(index).center()
            QTest.mouseDClick(found.tree.viewport(), Qt.MouseButton.LeftButton, pos=where + QPoint(0, 0))
            assert not found.cells()

    @pytest.mark.slow
    def test_a_group_and_the_document_have_attributes_too(self, place: Make) -> None:
        found = place(small_document(), "/")
        found.tree.setFocus()
        QTest.keyClick(found.tree, Qt.Key.Key_Insert)
        found.type_in("title")
        found.qtbot.waitUntil(lambda: bool(found.cells()))
        found.type_in("A title")
        assert found.inline(".zattrs") == {"title": "A title"}
        found.settle()
        assert found.values()["title"] == "A title"
        found.undo_all()

    @pytest.mark.slow
    def test_edits_in_quick_succession_all_count(self, place: Make) -> None:
        found = place(small_document())
        found.window.preferences.set("internal", True)
        for name, value in (("units", "m"), ("_ARRAY_DIMENSIONS", '["a", "b"]'), ("units", "km")):
            found.open_by_double_click(name, VALUE)
            found.type_in(value)
        found.qtbot.waitUntil(lambda: len(found.steps()) == 3)
        assert found.inline("temp/.zattrs") == {"_ARRAY_DIMENSIONS": ["a", "b"], "units": "km"}
        found.undo_all()

    @pytest.mark.slow
    def test_an_open_cell_outlives_what_changes_behind_it(self, place: Make) -> None:
        found = place(small_document())
        found.open_by_double_click("units", VALUE)
        found.window.navigation.refresh()
        found.settle()
        assert found.cells()
        found.type_in("m")
        found.qtbot.waitUntil(lambda: found.steps() == ["Change attribute units of /temp"])

    @pytest.mark.slow
    def test_consolidated_metadata_is_kept_in_step(self, place: Make) -> None:
        contents = small_document()
        refs: Any = contents["refs"]
        refs[".zmetadata"] = json.dumps(
            {"zarr_consolidated_format": 1, "metadata": {"temp/.zattrs": json.loads(refs["temp/.zattrs"])}}
        )
        found = place(contents)
        found.open_by_double_click("units", VALUE)
        found.type_in("m")
        assert found.inline(".zmetadata")["metadata"]["temp/.zattrs"]["units"] == "m"
        assert len(found.steps()) == 1
        found.undo_all()

    @pytest.mark.slow
    def test_version_3_of_zarr(self, place: Make) -> None:
        found = place(document_v3(), "/h")
        found.open_by_double_click("units", VALUE)
        found.type_in("km")
        assert found.inline("h/zarr.json")["attributes"] == {"units": "km"}
        consolidated = found.inline("zarr.json")["consolidated_metadata"]["metadata"]
        assert consolidated["h"]["attributes"] == {"units": "km"}
        found.undo_all()

    @pytest.mark.slow
    def test_consolidated_metadata_alone_is_added_to(self, place: Make) -> None:
        contents = small_document()
        refs: Any = contents["refs"]
        attributes = json.loads(refs.pop("temp/.zattrs"))
        refs[".zmetadata"] = json.dumps({"metadata": {"temp/.zattrs": attributes}})
        found = place(contents)
        found.open_by_double_click("units", VALUE)
        found.type_in("m")
        assert found.inline("temp/.zattrs") == {**attributes, "units": "m"}
        assert found.inline(".zmetadata")["metadata"]["temp/.zattrs"]["units"] == "m"
        found.undo_all()


class TestMetadata:
    @pytest.mark.slow
    def test_apply_is_one_step_and_undo_gives_the_bytes_back(self, place: Make) -> None:
        found = place(small_document())
        field = found.show_metadata("temp/.zarray")
        assert '"fill_value": -1' in field.text()
        found.replace('"fill_value": -1', '"fill_value": 7')
        assert found.outcome() == "→ not applied yet"
        QTest.keyClick(field, Qt.Key.Key_Return, CONTROL)
        assert found.inline("temp/.zarray")["fill_value"] == 7
        assert found.steps() == ["Change temp/.zarray"]
        assert not found.button("metadataApplyButton").isEnabled()
        found.settle()
        assert found.values()["Fill value"] == "7"
        found.undo_all()
        found.settle()
        assert '"fill_value": -1' in found.field().text()

    @pytest.mark.slow
    def test_a_fault_is_underlined_with_line_and_column(self, place: Make) -> None:
        found = place(small_document())
        found.show_metadata("temp/.zarray")
        found.replace('"fill_value": -1', '"fill_value": x')
        text = found.field().text()
        at = text.index("x", text.index("fill_value"))
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        assert found.outcome().startswith(f"✕ line {line}, column {column}: ")
        assert [span.start for span in found.field().fault_spans()] == [at]
        assert not found.button("metadataApplyButton").isEnabled()
        QTest.keyClick(found.field(), Qt.Key.Key_Return, CONTROL)
        assert found.steps() == []

    @pytest.mark.slow
    def test_metadata_that_makes_no_array_is_warned_of(self, place: Make) -> None:
        found = place(small_document())
        found.show_metadata("temp/.zarray")
        found.replace('"shape": [4, 6]', '"shape": [4]')
        assert found.outcome().startswith("! ")
        found.button("metadataApplyButton").click()
        found.settle()
        assert "Problem" in found.values()
        found.undo_all()

    @pytest.mark.slow
    def test_revert(self, place: Make) -> None:
        found = place(small_document())
        field = found.show_metadata("temp/.zattrs")
        text = field.text()
        found.replace('"K"', '"m"')
        assert drafts_of(found.document).count == 1
        assert found.document.is_pending
        found.button("metadataRevertButton").click()
        assert field.text() == text
        assert drafts_of(found.document).count == 0

    @pytest.mark.slow
    def test_what_is_typed_waits_while_another_node_is_shown(self, place: Make) -> None:
        found = place(small_document())
        found.show_metadata("temp/.zattrs")
        found.replace('"K"', '"m"')
        found.select("/depth")
        assert '"m"' not in found.field().text()
        found.select("/temp")
        found.pane.metadata.choose("temp/.zattrs")
        assert '"m"' in found.field().text()
        assert found.window.findChild(QComboBox, "metadataKey").currentText() == "temp/.zattrs *"

    @pytest.mark.slow
    def test_the_plot_follows_at_once(self, place: Make) -> None:
        found = place(small_document())
        drawing = found.window.centre.plot._presenter.drawing
        levels = drawing.keeper.levels
        found.show_metadata("temp/.zattrs")
        found.replace('"K"', '"m", "scale_factor": 2')
        QTest.keyClick(found.field(), Qt.Key.Key_Return, CONTROL)
        found.settle()
        array = found.window.centre.plot.array()
        assert array.attributes == {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m", "scale_factor": 2}
        assert (drawing.keeper.levels.low, drawing.keeper.levels.high) == (2 * levels.low, 2 * levels.high)
        found.document.undo()
        found.settle()
        assert drawing.keeper.levels == levels

    @pytest.mark.slow
    def test_a_long_text_is_checked_beside(self, place: Make) -> None:
        contents: Any = small_document()
        long = {f"attribute_{number}": "x" * 50 for number in range(300)}
        contents["refs"]["temp/.zattrs"] = json.dumps({**long, "units": "K"})
        found = place(contents)
        field = found.show_metadata("temp/.zattrs")
        found.replace('"units": "K"', '"units": K')
        assert found.outcome() == "→ checking…"
        assert not found.button("metadataApplyButton").isEnabled()
        found.qtbot.waitUntil(lambda: found.outcome().startswith("✕ line 302, column 12: "))
        assert field.fault_spans()
        found.replace('"units": K', '"units": "m"')
        found.qtbot.waitUntil(lambda: found.button("metadataApplyButton").isEnabled())
        QTest.keyClick(field, Qt.Key.Key_Return, CONTROL)
        assert found.inline("temp/.zattrs")["units"] == "m"

    @pytest.mark.slow
    def test_return_indents(self, place: Make) -> None:
        found = place(small_document())
        field = found.show_metadata("temp/.zattrs")
        cursor = field.textCursor()
        cursor.setPosition(1)
        field.setTextCursor(cursor)
        QTest.keyClick(field, Qt.Key.Key_Return)
        QTest.keyClicks(field, '"a": 1,')
        assert field.text().startswith('{\n  "a": 1,\n')

    @pytest.mark.slow
    def test_metadata_elsewhere_says_so_and_is_replaced(self, place: Make, tmp_path: Path) -> None:
        contents = small_document()
        refs: Any = contents["refs"]
        (tmp_path / "attributes.json").write_text(refs["temp/.zattrs"])
        refs["temp/.zattrs"] = ["attributes.json"]
        found = place(contents)
        found.qtbot.waitUntil(lambda: found.values().get("units") == "K")
        field = found.show_metadata("temp/.zattrs")
        assert "attributes.json" in found.note()
        assert '"K"' in field.text()
        found.replace('"K"', '"m"')
        QTest.keyClick(field, Qt.Key.Key_Return, CONTROL)
        assert found.inline("temp/.zattrs")["units"] == "m"
        found.settle()
        assert found.note() == ""
        assert found.values()["units"] == "m"
        found.undo_all()

    @pytest.mark.slow
    def test_metadata_of_a_rule_says_so_and_leads_to_the_rule(self, place: Make) -> None:
        contents: Any = small_document()
        contents["gen"].append(
            {
                "key": "depth/.zattrs",
                "url": "{{u}}",
                "offset": "0",
                "length": "{{n}}",
                "dimensions": {"n": {"start": 1, "stop": 2}},
            }
        )
        del contents["refs"]["depth/.zattrs"]
        found = place(contents, "/depth")
        field = found.show_metadata("depth/.zattrs")
        assert "gen rule 1" in found.note()
        assert field.isReadOnly()
        assert not found.tree.can_edit
        found.button("metadataGoToRule").click()
        found.settle()
        assert found.window.hierarchy.current_item().place == 1

    @pytest.mark.slow
    def test_text_that_is_no_json_is_repaired(self, place: Make) -> None:
        contents: Any = small_document()
        contents["refs"]["temp/.zattrs"] = '{"units": "K"'
        found = place(contents)
        field = found.show_metadata("temp/.zattrs")
        assert found.outcome().startswith("✕ line 1")
        cursor = field.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        field.setTextCursor(cursor)
        field.setFocus()
        QTest.keyClicks(field, "}")
        QTest.keyClick(field, Qt.Key.Key_Return, CONTROL)
        found.settle()
        assert found.values()["units"] == "K"
        found.undo_all()
