"""Processes that work on files: one that is killed costs nothing, one item that kills them all is named."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest

from refbrowser.engine.compute import HERE
from refbrowser.exporting.workers.file_processes import FileProcesses, computing
from refbrowser.io.cancel import CancelToken


def _ends_at_first(item: tuple[str, int]) -> int:
    """Kill the process that is at the third item, the first time."""
    mark, number = item
    if number == 3:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return number
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _ends_always(number: int) -> int:
    if number == 3:
        os._exit(1)
    if number == 4:
        raise ValueError("of the function")
    return number


def _unsendable(number: int) -> object:
    return lambda: number


def test_what_a_killed_process_was_at_is_done_again(tmp_path: Path) -> None:
    mark = str(tmp_path / "killed")
    sources = [str(tmp_path / str(number)) for number in range(60)]
    with computing(HERE, sources) as chosen, chosen.open() as executor:
        assert isinstance(chosen.given, FileProcesses)
        items = [(mark, number) for number in range(60)]
        found = {item[1]: answer for item, answer in executor.run(_ends_at_first, items, CancelToken())}
    assert found == {number: number for number in range(60)}
    assert os.path.exists(mark)
    assert not multiprocessing.active_children()


def test_an_item_over_which_all_end_is_named_and_the_others_are_done() -> None:
    with FileProcesses(2) as pool:
        futures = [pool.submit(_ends_always, number) for number in range(8)]
        errors = {number: type(each.exception()) for number, each in enumerate(futures) if each.exception()}
        assert errors == {3: BrokenExecutor, 4: ValueError}
        assert [each.result() for each in futures if not each.exception()] == [0, 1, 2, 5, 6, 7]
        with pytest.raises(RuntimeError, match="cannot be sent"):
            pool.submit(_unsendable, 1).result()
        assert pool.submit(_ends_always, 9).result() == 9
