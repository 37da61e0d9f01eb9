"""Files that others change are noticed: written in place, replaced, removed; ours are no news."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from refbrowser.io.access.local_files import FileWatcher
from refbrowser.io.files.atomic import write_atomically
from refbrowser.io.identity import FileIdentity, identity_on_disk

News = list[tuple[int, FileIdentity | None]]


@pytest.fixture
def news() -> News:
    return []


@pytest.fixture
def watcher(news: News) -> Iterator[FileWatcher]:
    made = FileWatcher(lambda number, found: news.append((number, found)), interval=0.01)
    yield made
    made.close()


@pytest.fixture
def file(tmp_path: Path, watcher: FileWatcher) -> Path:
    path = tmp_path / "a.json"
    path.write_text("{}")
    watcher.watch(7, str(path), identity_on_disk(path))
    return path


def wait_for(news: News, count: int) -> None:
    for _ in range(1000):
        if len(news) >= count:
            return
        time.sleep(0.01)
    raise AssertionError(news)


def test_each_change_is_told_once(file: Path, news: News) -> None:
    file.write_text("changed")
    wait_for(news, 1)
    time.sleep(0.1)
    assert news == [(7, identity_on_disk(file))]
    other = file.with_name("b.json")
    other.write_text("replaced")
    os.replace(other, file)
    wait_for(news, 2)
    assert news[1] == (7, identity_on_disk(file))
    file.unlink()
    wait_for(news, 3)
    assert news[2] == (7, None)


def test_what_is_expected_or_forgotten_is_no_news(file: Path, news: News, watcher: FileWatcher) -> None:
    watcher.forget(7)
    watcher.watch(7, str(file), write_atomically(file, [b"mine"]))
    time.sleep(0.1)
    assert news == []
    watcher.forget(7)
    file.write_text("later")
    time.sleep(0.1)
    assert news == []


def test_a_time_that_is_set_back_hides_no_change(file: Path, news: News) -> None:
    before = file.stat()
    file.write_text("changed")
    wait_for(news, 1)
    file.write_text("{}")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    wait_for(news, 2)
    assert news[1] == (7, identity_on_disk(file))
