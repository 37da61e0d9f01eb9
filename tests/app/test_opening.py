"""Opening what is no reference document, and what a drop may name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QPlainTextEdit
from pytestqt.qtbot import QtBot
from servers.http_server import HttpServer
from unread_data import HDF4, without_pyhdf
from window_fixtures import Open, button, drop

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetMetadata
from refbrowser.tools.make.window.combine_sheet import CombineSheet
from refbrowser.tools.make.window.make_sheet import MakeSheet

Settle = Callable[[], None]


def lines(window: MainWindow) -> QPlainTextEdit:
    found = window.findChild(QPlainTextEdit, "foundLines")
    assert found is not None
    return found


@pytest.fixture
def no_pyhdf() -> Iterator[None]:
    with without_pyhdf():
        yield


class TestFilesOfData:
    @pytest.mark.usefixtures("no_pyhdf")
    def test_lines_of_python_are_shown_copied_and_their_result_opened(
        self, window: MainWindow, small: Path, qtbot: QtBot, tmp_path: Path
    ) -> None:
        path = tmp_path / "era5.nc"
        path.write_bytes(HDF4)
        drop(window, QUrl.fromLocalFile(str(path)))
        qtbot.waitUntil(lambda: window.documents.all()[0].error is not None)
        card = window.centre.found
        assert card is not None
        assert card.isVisible()
        assert card.heading() == "era5.nc holds data, not references"
        assert "HDF4" in card.text()
        assert repr(str(path)) in lines(window).toPlainText()
        button(window, "foundCopyButton").click()
        assert QApplication.clipboard().text() == lines(window).toPlainText()
        button(window, "foundOpenButton").click()
        qtbot.waitUntil(lambda: "era5.nc.json is not there yet" in card.text())
        assert card.isVisible()
        assert lines(window).isVisible()
        (tmp_path / "era5.nc.json").write_text(small.read_text())
        button(window, "foundOpenButton").click()
        qtbot.waitUntil(lambda: window.documents.all()[0].is_open)
        assert [document.title for document in window.documents.all()] == ["era5.nc.json"]

    @pytest.mark.usefixtures("no_pyhdf")
    def test_references_that_are_open_or_lie_beside_the_file_are_offered(
        self, window: MainWindow, small: Path, opened: Open, qtbot: QtBot, tmp_path: Path
    ) -> None:
        path, offer = tmp_path / "data.bin", "foundOpenButton"
        path.write_bytes(HDF4)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "data.bin").write_bytes(path.read_bytes())
        opened(path)
        qtbot.waitUntil(lambda: button(window, offer).text() == "Open small.json")
        assert window.centre.found is not None
        assert window.centre.found.text().startswith("Reference documents beside it: small.json.")
        button(window, offer).click()
        qtbot.waitUntil(lambda: [each.title for each in window.documents.all()] == ["small.json"])
        qtbot.waitUntil(lambda: window.documents.all()[0].is_open)
        opened(elsewhere / "data.bin")
        qtbot.waitUntil(lambda: button(window, offer).text() == "Show it")
        button(window, offer).click()
        qtbot.waitUntil(lambda: [each.title for each in window.documents.all()] == ["small.json"])

    def test_unknown_file_shows_its_first_bytes(
        self, window: MainWindow, opened: Open, tmp_path: Path, qtbot: QtBot
    ) -> None:
        path = tmp_path / "mystery.bin"
        path.write_bytes(b"\x00\x01mystery\xff")
        opened(path)
        card = window.centre.found
        assert card is not None
        assert card.heading() == "mystery.bin cannot be opened"
        assert "What can be opened" in card.text()
        assert "00 01 6d 79" in lines(window).toPlainText()
        assert not button(window, "foundOpenButton").isVisible()
        path.write_text("{}")
        button(window, "foundRetryButton").click()
        qtbot.waitUntil(lambda: window.documents.all()[0].is_open)

    def test_folder_offers_the_documents_in_it(
        self, window: MainWindow, small: Path, opened: Open, tmp_path: Path, qtbot: QtBot
    ) -> None:
        folder = tmp_path / "several"
        folder.mkdir()
        for name in ("a.json", "b.json"):
            (folder / name).write_text(small.read_text())
        opened(folder)
        button(window, "foundOpenButton").click()
        qtbot.waitUntil(lambda: all(document.is_open for document in window.documents.all()))
        assert [document.title for document in window.documents.all()] == ["a.json", "b.json"]

    def test_folder_of_data_is_combined_and_does_not_stay(
        self, window: MainWindow, opened: Open, tmp_path: Path, qtbot: QtBot
    ) -> None:
        folder = tmp_path / "monthly"
        folder.mkdir()
        for name in ("tas_02.nc", "tas_01.nc", "notes.txt", "all.json"):
            (folder / name).write_bytes(b"CDF\x01")
        opened(folder)
        card = window.centre.found
        assert card is not None
        assert "2 files of data are in it" in card.text()
        assert "1 file in it may be reference documents" in card.text()
        assert button(window, "foundCombineButton").isDefault()
        wanted = [str(folder / "tas_01.nc"), str(folder / "tas_02.nc")]
        with qtbot.waitSignal(card.makeWanted) as made:
            button(window, "foundMakeButton").click()
        assert made.args == [wanted]
        sheet = window.findChild(MakeSheet)
        assert sheet is not None
        sheet.close()
        assert window.documents.all() == [], "the folder is nothing to be opened"
        opened(folder)
        button(window, "foundCombineButton").click()
        combine = window.findChild(CombineSheet)
        assert combine is not None
        assert combine._sources == wanted
        combine.close()
        assert window.documents.all() == []

    def test_what_an_ncml_names_is_combined(self, window: MainWindow, opened: Open, tmp_path: Path) -> None:
        path = tmp_path / "all.ncml"
        path.write_text(
            '<netcdf xmlns="http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2">'
            '<attribute name="title" value="Runs"/><aggregation type="joinExisting" dimName="time">'
            '<netcdf location="a.nc"/><netcdf location="b.nc"/><promoteGlobalAttribute/>'
            "</aggregation></netcdf>"
        )
        opened(path)
        card = window.centre.found
        assert card is not None
        assert card.heading() == "all.ncml names 2 files"
        assert f"They are in {tmp_path}." in card.text()
        assert "It is not opened by itself: " in card.text()
        assert "Not followed: attributes of files are not made variables" in card.text()
        assert lines(window).toPlainText().splitlines() == [f"{tmp_path}/a.nc", f"{tmp_path}/b.nc"]
        assert not button(window, "foundOpenButton").isVisible()
        assert button(window, "foundCombineButton").isDefault()
        button(window, "foundCombineButton").click()
        sheet = window.findChild(CombineSheet)
        assert sheet is not None
        order = sheet.order()
        assert order.sources == (f"{tmp_path}/a.nc", f"{tmp_path}/b.nc")
        assert (order.concat, order.new_dims, order.merge) == ("time", "", False)
        assert [each.value for each in order.remedies] == ['/:title="Runs"']
        sheet.close()
        assert window.documents.all() == []

    @pytest.mark.slow
    def test_an_ncml_whose_files_lie_beside_it_is_opened(
        self, window: MainWindow, opened: Open, tmp_path: Path
    ) -> None:
        h5py = pytest.importorskip("h5py")
        for number in range(2):
            with h5py.File(tmp_path / f"{number}.nc", "w") as file:
                file.create_dataset("t", data=[number, number + 0.5])
                file["t"].make_scale("t")
        path = tmp_path / "all.ncml"
        path.write_text(
            '<netcdf xmlns="http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2">'
            '<aggregation type="joinExisting" dimName="t"><scan location="." suffix=".nc"/></aggregation>'
            "</netcdf>"
        )
        before = path.read_bytes()
        document = opened(path)
        assert document.is_open
        assert document.hierarchy is not None
        assert document.hierarchy.find("/t").shape == (4,)  # type: ignore[union-attr]
        document.apply(SetMetadata(".zattrs", {"title": "edited"}))
        window.actions_["save"].trigger()
        dialog = window.findChild(QFileDialog, "saveAsDialog")
        assert dialog is not None, "it is saved elsewhere: the NcML is no document of references"
        dialog.close()
        assert path.read_bytes() == before

    def test_an_asset_of_stac_is_opened_with_one_click(
        self, window: MainWindow, small: Path, opened: Open, tmp_path: Path, qtbot: QtBot
    ) -> None:
        (tmp_path / "virtual.json").write_text(small.read_text())
        assets = {"meta": {"href": "m.xml"}, "refs": {"href": "virtual.json", "roles": ["references"]}}
        item = tmp_path / "item.json"
        item.write_text(json.dumps({"type": "Feature", "stac_version": "1.0.0", "assets": assets}))
        opened(item)
        card = window.centre.found
        assert card is not None
        assert card.heading() == "item.json names 2 files"
        assert not button(window, "foundCombineButton").isVisible()
        assert button(window, "foundOpenButton").text() == "Open refs"
        button(window, "foundOpenButton").click()
        qtbot.waitUntil(lambda: any(each.is_open for each in window.documents.all()))
        assert "virtual.json" in [each.title for each in window.documents.all()]

    def test_an_asset_at_a_private_address_is_asked_about_before_it_is_read(
        self, window: MainWindow, small: Path, opened: Open, tmp_path: Path, qtbot: QtBot
    ) -> None:
        with HttpServer({"/refs.json": small.read_bytes()}) as server:
            loopback = server.url("/refs.json").replace("127.0.0.1", "0x7f.1")
            item, assets = tmp_path / "item.json", {"refs": {"href": loopback, "roles": ["references"]}}
            item.write_text(json.dumps({"type": "Feature", "stac_version": "1.0.0", "assets": assets}))
            opened(item)
            card = window.centre.found
            assert card is not None
            origin = server.url("/").rstrip("/")
            assert f"The button reads from {origin}." in card.text(), "the address as it is looked up"
            for answer in ("No", "Yes"):
                button(window, "foundOpenButton").click()
                question = window.findChild(QMessageBox, "privateQuestion")
                assert question is not None
                assert f"The file leads to {origin}:" in question.informativeText()
                assert server.requests == []
                assert [each.title for each in window.documents.all()] == ["item.json"]
                button(window, f"privateQuestion{answer}").click()
                qtbot.waitUntil(lambda: window.findChild(QMessageBox, "privateQuestion") is None)
            qtbot.waitUntil(lambda: any(each.is_open for each in window.documents.all()))
            assert [each.title for each in window.documents.all()] == ["refs.json"]

    def test_files_at_private_addresses_are_asked_about_before_they_are_combined(
        self, window: MainWindow, opened: Open, tmp_path: Path
    ) -> None:
        path = tmp_path / "list.txt"
        path.write_text("http://169.254.1.1/a.nc\nhttps://data.example/b.nc\nhttp://169.254.1.1/c.nc\n")
        opened(path)
        for answer, count in (("No", 0), ("Yes", 3)):
            button(window, "foundCombineButton").click()
            question = window.findChild(QMessageBox, "privateQuestion")
            assert question is not None
            assert "leads to http://169.254.1.1: a private address" in question.informativeText()
            assert window.findChild(CombineSheet) is None
            button(window, f"privateQuestion{answer}").click()
            QApplication.processEvents()
            sheet = window.findChild(CombineSheet)
            assert (0 if sheet is None else len(sheet.order().sources)) == count
        assert sheet is not None
        sheet.close()

    def test_what_is_nothing_to_be_opened_goes_when_it_was_seen(
        self, window: MainWindow, small: Path, opened: Open, tmp_path: Path, qtbot: QtBot
    ) -> None:
        for name, content, words in (
            ("photo.png", b"\x89PNG\r\n\x1a\n", "The file is a picture: it has no references"),
            ("area.json", b'{"type": "FeatureCollection", "features": []}', "a GeoJSON file"),
            (
                "package.json",
                b'{"name": "x", "version": "1.0", "main": "a.js"}',
                "package description of npm",
            ),
        ):
            path = tmp_path / name
            path.write_bytes(content)
            opened(path)
            card = window.centre.found
            assert card is not None
            assert words in card.text()
            assert "value is expected" not in card.text()
        opened(small)
        qtbot.waitUntil(lambda: [each.title for each in window.documents.all()] == ["small.json"])

    @pytest.mark.slow
    @pytest.mark.fresh
    def test_broken_json_is_told_as_before(self, window: MainWindow, opened: Open, tmp_path: Path) -> None:
        path = tmp_path / "broken.json"
        path.write_text('{"a": ')
        opened(path)
        assert window.centre.mending is not None
        assert window.centre.mending.isVisible()
        assert window.centre.found is None


def test_the_stage_behind_the_reading_is_named_and_no_bar_stands_at_its_end(
    opened: Open, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PySide6.QtWidgets import QProgressBar

    from refbrowser.app.frame.centre import Centre

    seen, show = [], Centre.show_stage

    def noted(self: Centre, document: OpenDocument, stage: str) -> None:
        show(self, document, stage)
        bars = [part.findChild(QProgressBar) for part in (self.loading, self.strip)]
        seen.append((stage, *(bar.maximum() for bar in bars if bar is not None)))

    monkeypatch.setattr(Centre, "show_stage", noted)
    opened(small)
    assert seen == [("Building the hierarchy", 0, 0)]
