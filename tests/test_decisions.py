"""Each page of a decision has all its parts, names what is there, and is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import CHECKOUT, missing, named_paths

FOLDER = CHECKOUT / "docs/decisions"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
LIST = (FOLDER / "README.md").read_text("utf-8")
PARTS = ["Decision", "Why", "What it costs", "What would overturn it", "Where it lives"]


def parts_of(page: str) -> dict[str, str]:
    """Return what is below each heading of a page."""
    found = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)[1:]
    return dict(zip(found[::2], map(str.strip, found[1::2]), strict=True))


@pytest.fixture(params=PAGES, ids=lambda path: path.stem)
def page(request: pytest.FixtureRequest) -> str:
    return request.param.read_text("utf-8")


def test_a_page_has_all_its_parts(page: str) -> None:
    assert re.match(r"# .+\?\n", page)
    parts = parts_of(page)
    assert list(parts) == PARTS
    assert all(parts.values())
    assert re.search(r"\d", parts["Why"]), "there are no figures"
    assert 30 <= page.count("\n") <= 60


def test_a_page_says_which_test_would_overturn_it_and_where_the_code_is(page: str) -> None:
    parts = parts_of(page)
    assert any(path.startswith("tests/") for path in named_paths(parts["What would overturn it"]))
    assert any(path.startswith("refbrowser/") for path in named_paths(parts["Where it lives"]))


def test_a_page_names_what_is_there(page: str) -> None:
    assert not missing(page)
    links = re.findall(r"\]\(([\w.-]+\.md)\)", page)
    assert not [link for link in links if not (FOLDER / link).exists()]
    texts = {path: (CHECKOUT / path).read_text("utf-8") for path in named_paths(page) if path.endswith(".py")}
    tests = re.findall(r"`(test_\w+)`", page)
    assert not [name for name in tests if not any(f"def {name}(" in text for text in texts.values())]


def test_every_page_is_listed_by_its_question() -> None:
    listed = re.findall(r"^\* \[(.+)\]\((.+)\)$", LIST, re.MULTILINE)
    questions = {path.name: path.read_text("utf-8").partition("\n")[0].removeprefix("# ") for path in PAGES}
    assert len(listed) == len(PAGES)
    assert {name: question for question, name in listed} == questions


def test_the_template_has_the_parts() -> None:
    template = LIST.split("```markdown\n")[1].split("```")[0]
    assert list(parts_of(template)) == PARTS


def test_contributing_leads_here() -> None:
    assert "(docs/decisions/README.md)" in Path(CHECKOUT / "CONTRIBUTING.md").read_text("utf-8")
