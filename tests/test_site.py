"""The site has a page for each thing that users can look up, and no link in it leads nowhere."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from source import PACKAGE

import refbrowser
from refbrowser.app.dialogs.manual_window import PAGES
from refbrowser.codecs.table import CODECS
from refbrowser.formats.registry import written
from refbrowser.tools.registry import BUILT_IN

SITE = PACKAGE.parent / "packaging" / "site"
RESULTS = {
    "refbrowser": "1.2.3",
    "python": "3.11.0",
    "subjects": [{"subject": "Gen rules", "judge": "fsspec", "passed": 41, "failed": 2, "skipped": 7}],
    "versions": {"fsspec": "2026.6"},
}


def load_script(path: Path) -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(path)))


@pytest.fixture(scope="module")
def maker() -> SimpleNamespace:
    return load_script(SITE / "pages.py")


@pytest.fixture(scope="module")
def pages(maker: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    results = tmp_path_factory.mktemp("results") / "found.json"
    results.write_text(json.dumps(RESULTS))
    maker.write_pages(folder, results)
    return folder


@pytest.mark.slow
def test_everything_has_its_page(pages: Path) -> None:
    assert {path.stem for path in (pages / "manual").glob("*.md")} == set(PAGES)
    assert {path.stem for path in (pages / "verbs").glob("*.md")} == {tool.name for tool in BUILT_IN} | {
        "index"
    }
    api = (pages / "api.md").read_text("utf-8")
    documented = set(re.findall(r"auto\w+:: refbrowser\.(\w+)", api))
    assert documented == set(refbrowser.__all__) - {"__version__"}
    assert set(re.findall(r"^\| `([^`]+)`", (pages / "codecs.md").read_text("utf-8"), re.M)) == set(CODECS)
    assert set(re.findall(r"^\| `([^`]+)`", (pages / "formats.md").read_text("utf-8"), re.M)) == set(
        written()
    )


@pytest.mark.slow
def test_links_to_actions_say_where_these_are(pages: Path) -> None:
    text = (pages / "manual/moving.md").read_text("utf-8")
    assert "*Edit > Files and locations* (`Ctrl+Shift+H`)" in text
    assert not [path for path in pages.rglob("*.md") if "](action:" in path.read_text("utf-8")]


@pytest.mark.slow
def test_a_verb_has_its_options_and_examples(pages: Path) -> None:
    text = (pages / "verbs/audit.md").read_text("utf-8")
    assert "refbrowser audit PATH [OPTIONS]" in text
    assert "| `--compare-lock` | compare each file with DOC.lock.json, whatever the level |" in text
    assert "refbrowser audit sea_surface.json --level sample" in text
    # What argparse has twice stands once.
    assert "(%O %A %B %P)" in (pages / "verbs/merge.md").read_text("utf-8")


@pytest.mark.slow
def test_results_are_those_that_were_found(pages: Path, maker: SimpleNamespace, tmp_path: Path) -> None:
    text = (pages / "conformance.md").read_text("utf-8")
    assert "| Gen rules | fsspec | 41 | 2 | 7 |" in text
    assert "refbrowser 1.2.3" in text
    assert maker.conformance(tmp_path / "none.json").endswith("They were not run for this site.")


def test_tests_that_judge_are_there() -> None:
    judged = load_script(SITE / "conformance.py").SUBJECTS
    tests = PACKAGE.parent / "tests"
    assert not [path for subject in judged for path in subject.tests if not (tests / path).exists()]


def test_counts_are_those_of_the_report(tmp_path: Path) -> None:
    conformance = load_script(SITE / "conformance.py")
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite>"
        "<testcase classname='tests.formats.fits.test_fits_files.TestColumns' name='a'/>"
        "<testcase classname='tests.formats.fits.test_fits_files' name='b'><failure/></testcase>"
        "<testcase classname='tests.formats.fits.test_fits_tables' name='c'><skipped/></testcase>"
        "<testcase classname='tests.formats.fitsother.test_x' name='d'/>"
        "</testsuite></testsuites>"
    )
    fits = conformance.Subject("FITS", "astropy", (), ("formats/fits",))
    assert conformance._sum(conformance._counted(report), fits) == {"passed": 1, "failed": 1, "skipped": 1}


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_site_is_made_without_a_warning(pages: Path, tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="Sphinx makes the site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", str(SITE), str(pages)]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "QT_QPA_PLATFORM": "offscreen"}
    made = subprocess.run([*command, str(tmp_path)], env=environment, capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, "")
    # A newcomer finds how a set is mended whose files moved.
    index = (tmp_path / "searchindex.js").read_text("utf-8")
    assert "Mend a set whose files moved" in index
    assert "https://" not in re.sub(r"<a [^>]*>", "", (tmp_path / "index.html").read_text("utf-8"))
