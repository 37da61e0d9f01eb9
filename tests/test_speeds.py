"""A test that is slow and not marked as such fails."""

from __future__ import annotations

import pytest
from speeds import SlowTests

pytest_plugins = ["pytester"]

BUSY = """
import time

def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""
KINDS = """
import pytest
from busy import work

def test_quick(): pass
def test_unmarked(): work(0.1)
@pytest.mark.slow
def test_marked(): work(0.1)
def test_that_loads_first(): import loaded
@pytest.fixture
def prepared(): work(0.1)
def test_that_is_prepared(prepared): pass
def test_that_fails_by_itself(): assert False
"""
LOADED = """
import inner
from busy import work

work(0.1)
"""
INI = """
[pytest]
markers = slow: takes long
pythonpath = .
"""


@pytest.mark.slow
def test_only_the_body_of_a_test_without_the_mark_counts(pytester: pytest.Pytester) -> None:
    pytester.makeini(INI)
    inner = "from busy import work\nwork(0.1)"
    pytester.makepyfile(busy=BUSY, loaded=LOADED, inner=inner, test_kinds=KINDS)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[SlowTests(allowed=0.05)])
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["*mark it slow*", "quick tests: 3, ? s of CPU", "slow tests: 1, ? s of CPU"])
    failed = {line.split()[1] for line in result.outlines if line.startswith("FAILED")}
    assert failed == {"test_kinds.py::test_unmarked", "test_kinds.py::test_that_fails_by_itself"}
