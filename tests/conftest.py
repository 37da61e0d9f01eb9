"""What all tests share: a fixed Hypothesis profile, the real files, and the options of the runner."""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from json_outputs import WATCHED
from servers.object_servers import ObjectServer, object_server
from source import sources
from speeds import SlowTests

if TYPE_CHECKING:
    from netcdf_stores import NetcdfProcess

    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# eccodes opens a PROJ of its own for all to see, and a pyproj that is imported after it calls into that one.
# The program has eccodes in processes of their own only; tests make GRIB in theirs.
with suppress(ImportError):
    import pyproj  # noqa: F401
WATCHED.watch()

#: Fixtures that are made elsewhere.
__all__ = ["sources"]

CHECKOUT = Path(__file__).resolve().parent.parent

settings.register_profile(
    "fixed", max_examples=12, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "long", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")


@pytest.fixture(scope="session")
def netcdf() -> Iterator[NetcdfProcess]:
    """netCDF4 in a process of its own."""
    from netcdf_stores import NetcdfProcess

    process = NetcdfProcess()
    yield process
    process.close()


@pytest.fixture(scope="session")
def of_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all processes of this run."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def s3_server(of_all_workers: Path) -> Iterator[ObjectServer]:
    """moto; tests that ask for it are skipped where it cannot be had."""
    with object_server("s3", of_all_workers) as server:
        yield server


@pytest.fixture(scope="session")
def gs_server(of_all_workers: Path) -> Iterator[ObjectServer]:
    """gcp-storage-emulator."""
    with object_server("gs", of_all_workers) as server:
        yield server


@pytest.fixture(scope="session")
def abfs_server(of_all_workers: Path, pytestconfig: pytest.Config) -> Iterator[ObjectServer]:
    """Azurite; tests that ask for it are skipped where it cannot be had, and in runs that are not long."""
    if not pytestconfig.getoption("--long"):
        pytest.skip("installing Azurite takes a minute: run with --long")
    with object_server("abfs", of_all_workers) as server:
        yield server


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="add soak, fuzzing and corpora of old writers")
    parser.addoption("--outcome-to", metavar="FILE", help="write which tests failed, for tests/alone.py")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SlowTests())
    if config.getoption("--long"):
        settings.load_profile("long")
    else:
        _fix_constants()


def _fix_constants() -> None:
    """Let Hypothesis draw no constants of the modules that are loaded, which depend on what ran before.

    What a test is given is then the same in each run, whichever worker has it; and no worker parses the whole
    package, which takes 7 s. Long runs draw them.
    """
    try:
        from hypothesis.internal.conjecture import providers
    except ImportError:
        return
    # Hypothesis has no setting for it; versions before 6.131 draw none.
    if hasattr(providers, "_get_local_constants"):
        providers._get_local_constants = lambda: providers._local_constants


#: Files of tests of which one alone takes a good part of a minute: begun last, the other workers would wait.
LONGEST = ("test_pictures", "test_monkey", "test_foreign_text", "test_words_of_made", "test_huge_claims")


#: Fixtures that start other software: which test pays for it is chance, so all of theirs are slow.
OTHER_SOFTWARE = {"s3_server", "gs_server", "abfs_server", "corpus", "corpus_v2", "corpus_v3"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.stem not in LONGEST)
    for item in items:
        if OTHER_SOFTWARE & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="a long test: run with --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if (file := config.getoption("--outcome-to")) is None:
        return
    ids = {
        name: {report.nodeid for report in terminalreporter.getreports(name)}
        for name in ("passed", "failed", "error", "skipped")
    }
    failed = ids["failed"] | ids["error"]
    outcome = {
        "passed": len(ids["passed"] - failed),
        "skipped": len(ids["skipped"] - failed),
        "failed": sorted(failed),
    }
    Path(file).write_text(json.dumps(outcome), encoding="utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the tests that are loaded, which stay to the end; else less often."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.set_threshold(5000, 10, 10)
    gc.enable()
    return found


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected: a thread of zarr that collects h5py's waits for a lock of who waits for it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real files beside the checkout; tests that need it are skipped where it is absent."""
    folder = CHECKOUT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real files are not beside the checkout")
    return folder


@pytest.fixture(scope="session", autouse=True)
def patience() -> None:
    """Wait longer for the window than pytest-qt does: a busy machine is no failure."""
    from pytestqt.qtbot import QtBot

    for function in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals):
        function.__kwdefaults__["timeout"] = 30_000


@pytest.fixture(autouse=True)
def json_as_published() -> Iterator[None]:
    """Whatever verbs print with ``--json`` is as their schemas say, in every test."""
    yield
    assert WATCHED.taken() == []


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of folders, one for each test; only those that a test writes to are made."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def private_folders(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep settings, permissions, caches and journals of a test away from the user's."""
    home = next(homes)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))


@pytest.fixture
def session() -> Iterator[Session]:
    """A session of two threads, of one test."""
    from refbrowser.engine.session import Session

    session = Session(threads=2)
    yield session
    session.close()


@pytest.fixture
def access(tmp_path: Path) -> Access:
    """What a document in the test's folder may read."""
    from refbrowser.io.access.access import Access

    return Access.for_document(tmp_path / "document.json")


# Modules that are imported late would be too late for `limits`.


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Change limits for one test."""

    def change(**changes: float) -> None:
        for name, module in list(sys.modules.items()):
            if name.startswith("refbrowser") and hasattr(module, "LIMITS"):
                monkeypatch.setattr(module, "LIMITS", dataclasses.replace(module.LIMITS, **changes))

    return change
