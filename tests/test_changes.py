"""Fragments of the changelog have a kind and a text, and are moved into its sections."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
_SPEC = importlib.util.spec_from_file_location("changes", CHECKOUT / "packaging" / "changes.py")
assert _SPEC is not None
assert _SPEC.loader is not None
changes = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(changes)

BEFORE = """# Changes

## Unreleased

### Fixed

- A fault.

## 0.1.0

### Added

- All of it.
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a changelog and a fragment of each kind, one of two lines."""
    (tmp_path / "CHANGELOG.md").write_text(BEFORE)
    (tmp_path / "changes").mkdir()
    for kind in changes.KINDS:
        (tmp_path / "changes" / f"{kind}-it.md").write_text(f"What was {kind},\nin two lines.\n")
    return tmp_path


def changelog(checkout: Path) -> str:
    return (checkout / "CHANGELOG.md").read_text()


def test_fragments_join_what_is_unreleased(checkout: Path) -> None:
    assert changes.main([], checkout) == 0
    added, changed, fixed = (f"- What was {kind},\n  in two lines.\n" for kind in changes.KINDS)
    assert changelog(checkout) == (
        f"# Changes\n\n## Unreleased\n\n### Added\n\n{added}\n### Changed\n\n{changed}\n### Fixed\n\n"
        f"- A fault.\n{fixed}\n## 0.1.0\n\n### Added\n\n- All of it.\n"
    )
    assert not list((checkout / "changes").iterdir())


def test_a_release_gets_a_version_and_the_next_one_its_own_section(checkout: Path) -> None:
    assert changes.main(["0.2.0"], checkout) == 0
    released = changelog(checkout)
    assert re.findall(r"^## (.+?)(?: \(\d{4}-\d\d-\d\d\))?$", released, re.M) == ["0.2.0", "0.1.0"]
    assert changes.main([], checkout) == 0
    assert changelog(checkout) == released
    (checkout / "changes" / "added-more.md").write_text("*More* is there.\n")
    assert changes.main([], checkout) == 0
    assert changelog(checkout) == released.replace(
        "# Changes\n\n", "# Changes\n\n## Unreleased\n\n### Added\n\n- *More* is there.\n\n"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [("more.md", "More."), ("broken-it.md", "More."), ("added-it.txt", "More."), ("added-it.md", " \n"),
     ("added-it.md", "- More."), ("fixed-it.md", "### Fixed")],
)  # fmt: skip
def test_a_fragment_that_is_none_changes_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (checkout / "changes" / name).write_text(text)
    for arguments in (["--check"], []):
        assert changes.main(arguments, checkout) == 1
        assert capsys.readouterr().err.startswith(f"{name}: ")
    assert changelog(checkout) == BEFORE


def test_a_check_moves_nothing(checkout: Path) -> None:
    assert changes.main(["--check"], checkout) == 0
    assert changelog(checkout) == BEFORE
    assert len(list((checkout / "changes").iterdir())) == len(changes.KINDS)


def test_what_is_here_is_sound() -> None:
    assert changes.main(["--check"]) == 0
    _, *sections = re.split(r"^## ", (CHECKOUT / "CHANGELOG.md").read_text("utf-8"), flags=re.M)
    for section in sections:
        headings = [heading.lower() for heading in re.findall(r"^### (.+)$", section, re.M)]
        title, _, rest = section.partition("\n")
        assert rest.startswith("\n### "), title
        assert headings == [kind for kind in changes.KINDS if kind in headings], title
        assert not re.search(r"^[^-#\s]", rest, re.M), "a line outside of a list"
