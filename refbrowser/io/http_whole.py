"""Objects that a server without ranges sends whole: one request reads, the others wait for its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refbrowser.io.http_request import HttpRequest

#: What was checked for one document is not taken for another: the object may have changed in between.
_Key = tuple[int, str]


class WholeObjects:
    """Which objects of a host are being read whole, and the range requests that wait for them."""

    def __init__(self) -> None:
        self._waiting: dict[_Key, tuple[HttpRequest, list[HttpRequest]]] = {}

    def lead(self, request: HttpRequest) -> bool:
        """Make `request` the one that reads its object, unless another does: then it waits for that one."""
        leader, followers = self._waiting.setdefault(_key(request), (request, []))
        if leader is request:
            return True
        followers.append(request)
        return False

    def join(self, request: HttpRequest) -> bool:
        """Let `request` wait if its object is being read whole."""
        if request.is_whole or _key(request) not in self._waiting:
            return False
        return not self.lead(request)

    def waits(self, request: HttpRequest) -> bool:
        """Whether `request` waits for the bytes of another."""
        _, followers = self._waiting.get(_key(request), (None, []))
        return request in followers

    def finish(self, request: HttpRequest) -> list[HttpRequest]:
        """Return the requests that waited for `request`, which has ended one way or the other."""
        leader, followers = self._waiting.get(_key(request), (None, []))
        if leader is not request:
            return []
        del self._waiting[_key(request)]
        return [follower for follower in followers if follower.wanted]


def _key(request: HttpRequest) -> _Key:
    segment = request.segment
    return id(segment.task.access.memory), segment.location.url
