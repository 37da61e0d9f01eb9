"""Fixtures that open a document without a window, and show one editor beside the preview."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from editor_workplace import DOCUMENT, Workplace

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.form import EditorForm
from refbrowser.app.editors.gen_editor import GenEditor
from refbrowser.app.editors.prefix_editor import PrefixEditor
from refbrowser.app.editors.reference_editor import ReferenceEditor
from refbrowser.app.editors.templates_editor import TemplatesEditor
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History

Open = Callable[[Any], OpenDocument]


@pytest.fixture
def open_document(qapp: Any) -> Iterator[Open]:
    """Return what opens a document from JSON values or bytes."""
    opened: list[OpenDocument] = []

    def make(contents: Any = DOCUMENT) -> OpenDocument:
        data = contents if isinstance(contents, bytes) else json.dumps(contents).encode()
        document = OpenDocument("test.json", Tasks())
        document.history = History(ReferenceDocument.of(data))
        opened.append(document)
        return document

    yield make
    for document in opened:
        document.tasks.close()


@pytest.fixture
def workplace(qtbot: Any, open_document: Open) -> Iterator[Callable[..., Workplace]]:
    """Return what opens a document beside one editor."""

    places: list[Workplace] = []

    def make(editor: EditorForm, contents: Any = DOCUMENT) -> Workplace:
        place = Workplace(open_document(contents), editor)
        places.append(place)
        qtbot.addWidget(place.window)
        return place

    yield make
    for place in places:
        place.close()


@pytest.fixture
def gen(workplace: Callable[..., Workplace]) -> Callable[..., Workplace]:
    """Return what shows a gen rule of a document."""

    def make(contents: Any = DOCUMENT, index: int = 0) -> Workplace:
        place = workplace(GenEditor(), contents)
        place.editor.set_rule(place.document, index)  # type: ignore[attr-defined]
        return place

    return make


@pytest.fixture
def templates(workplace: Callable[..., Workplace]) -> Callable[..., Workplace]:
    """Return what shows the templates of a document."""

    def make(contents: Any = DOCUMENT, name: str | None = None) -> Workplace:
        place = workplace(TemplatesEditor(), contents)
        place.editor.set_document(place.document, name)  # type: ignore[attr-defined]
        return place

    return make


@pytest.fixture
def reference(workplace: Callable[..., Workplace]) -> Callable[..., Workplace]:
    """Return what shows a reference of a document."""

    def make(contents: Any = DOCUMENT, key: str | None = "a/0") -> Workplace:
        place = workplace(ReferenceEditor(), contents)
        place.editor.set_key(place.document, key)  # type: ignore[attr-defined]
        return place

    return make


@pytest.fixture
def prefix(workplace: Callable[..., Workplace]) -> Callable[..., Workplace]:
    """Return what begins a replacement of URL prefixes in a document."""

    def make(contents: Any = DOCUMENT, scopes: Any = (), chosen: Any = None, old: str = "") -> Workplace:
        from refbrowser.references.content.url_prefixes import PrefixScope

        place = workplace(PrefixEditor(), contents)
        place.editor.begin(place.document, list(scopes), chosen or PrefixScope(), old)  # type: ignore[attr-defined]
        return place

    return make
