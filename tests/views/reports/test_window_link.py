"""What opens a dataset from a page: of what has a path, without the home folder and what lets somebody in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from refbrowser.engine.links import Link
from refbrowser.views.reports.html_page import ReportPage, page_text
from refbrowser.views.reports.window_link import window_link


def address(*named: str) -> str:
    """Return where the row of a page leads; empty where there is none."""
    text = page_text(ReportPage(title="t", about=tuple(window_link(*named))))
    found = re.findall(r'<dt>Open</dt><dd><a href="([^"]*)">in refbrowser</a>', text)
    return found[0] if found else ""


def test_it_leads_to_what_was_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a <b>.json").touch()
    found = address("a <b>.json", "/x", "0,1")
    assert Link.from_url(found) == Link(str(tmp_path / "a <b>.json"), "/x", "0,1")
    assert address("https://h.org/a.json") == "refbrowser:https://h.org/a.json"


def test_the_home_folder_is_that_of_whoever_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "anna"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    (home / "a.json").touch()
    assert address(str(home / "a.json"), "/x") == "refbrowser:~/a.json::/x"


def test_nothing_lets_somebody_in() -> None:
    found = address("https://me:word@h.org/a.json?X-Amz-Signature=abc&v=1")
    assert found == "refbrowser:https://h.org/a.json%3Fv=1"


@pytest.mark.parametrize("path", ["none.json", "<memory>", "/dev/null", "ssh://h/a", "/\x1b.json"])
def test_what_no_link_leads_to_has_none(path: str) -> None:
    assert address(path) == ""
