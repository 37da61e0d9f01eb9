"""Work that is done ahead, by several threads, and taken in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from refbrowser.io.cancel import CancelToken

#: Blocks that are read and encoded at once.
AHEAD = 4

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], ahead: int, token: CancelToken
) -> Iterator[Result]:
    """Yield what a function makes of each item, in their order, so many at a time; the token ends it."""
    waiting: deque[Future[Result]] = deque()
    left = iter(items)
    with ThreadPoolExecutor(max(1, ahead), "export") as pool:
        try:
            while True:
                while len(waiting) < ahead and (item := next(left, _END)) is not _END:
                    waiting.append(pool.submit(function, item))  # type: ignore[arg-type]
                if not waiting:
                    return
                token.check()
                yield waiting.popleft().result()
        except BaseException:
            token.cancel()
            raise


_END = object()
