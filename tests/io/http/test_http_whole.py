"""Several ranges of an object that a server sends whole: one request reads it, the others wait."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from reading import Reading, pattern
from servers.http_server import HttpServer

from refbrowser.errors import RefbrowserError
from refbrowser.io.fetching.fetch import Fetcher

DATA = pattern(60_000)


class Whole(HttpServer):
    """Sends the object whole and slowly; the first answer ends with a reset while others are under way."""

    def __init__(self, spoiled: int) -> None:
        super().__init__({"/a": DATA})
        self.spoiled = spoiled
        self.answers = 0

    def _answer(self, path: str, wanted: tuple[int, int | None] | None, head: bool) -> Any:
        answer = super()._answer(path, None, head)
        answer.rate = 100_000
        if self.answers == self.spoiled:
            answer.stop_at, answer.reset = 36_000, True
        self.answers += 1
        return answer


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("spoiled", [0, 1, 2, 99])
def test_an_answer_that_is_passed_over_is_never_taken_for_the_next_one(
    fetcher: Fetcher, spoiled: int
) -> None:
    starts = [0, 20_000, 50_000]
    found: dict[int, bytes | RefbrowserError] = {}
    with Whole(spoiled) as server:
        reading = Reading(server, fetcher)

        def read(start: int) -> None:
            found[start] = reading.fetch([("/a", start, 9_000)])[0]

        threads = [threading.Thread(target=read, args=(start,)) for start in starts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {start: DATA[start : start + 9_000] for start in starts}
