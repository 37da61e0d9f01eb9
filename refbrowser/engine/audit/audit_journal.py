"""Answers of an audit on disk, so that one that was interrupted goes on; stale ones are not used."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refbrowser.engine.audit.audit_plan import AuditPlan
from refbrowser.engine.audit.audit_tasks import TaskAnswer
from refbrowser.io.files.own_names import open_own
from refbrowser.io.files.permissions import state_folder
from refbrowser.limits import LIMITS
from refbrowser.version import __version__

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

_VERSION = 1
#: Journals that are kept, the newest; and how old one may be that is gone on with, in seconds.
KEPT, STALE = 20, 24 * 3600.0
_LINE = re.compile(rb"([0-9a-f]{8}) (.*)", re.DOTALL)


class AuditJournal:
    """The answers of one plan, by the numbers of their tasks; not safe to share across threads.

    A journal is of one document, as it was word for word, and of one request: any other has another one. One
    that cannot be written costs nothing but going on later.

    Parameters
    ----------
    resume
        Take what an earlier audit wrote; else it is begun anew.
    """

    def __init__(self, dataset: Dataset, plan: AuditPlan, *, resume: bool) -> None:
        self._mark = _mark_of(dataset, plan)
        self.path = _path_of(self._mark)
        self.known: dict[int, TaskAnswer] = dict(_read(self.path, self._mark)) if resume else {}
        #: Whether the audit went to its end.
        self.is_done = False
        self._size = 0
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):
            self._begin(resume and bool(self.known))

    def add(self, number: int, answer: TaskAnswer) -> None:
        """Note the answer of a task."""
        if self._descriptor is not None:
            self._append({"task": number, "answer": answer.to_json()})

    def close(self) -> None:
        """End it; of an audit that is done nothing is kept."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self.is_done:
            with contextlib.suppress(OSError):
                self.path.unlink()

    def _begin(self, goes_on: bool) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _give_up_oldest(self.path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if goes_on else os.O_TRUNC)
        self._descriptor = open_own(self.path, flags)
        self._size = os.fstat(self._descriptor).st_size
        if goes_on:
            # Whatever a killed process left torn ends here.
            os.write(self._descriptor, b"\n")
        else:
            self._append({"refbrowser_audit": _VERSION, "of": self._mark})

    def _append(self, value: Any) -> None:
        text = json.dumps(value, separators=(",", ":")).encode("ascii")
        line = b"%08x %s\n" % (zlib.crc32(text), text)
        if self._descriptor is None or self._size + len(line) > LIMITS.journal_size:
            return
        try:
            os.write(self._descriptor, line)
        except OSError:
            self._descriptor = None
            return
        self._size += len(line)


def answers_kept(dataset: Dataset, plan: AuditPlan) -> int:
    """Return how many answers are kept of an audit of this plan that was interrupted; 0 where none was."""
    mark = _mark_of(dataset, plan)
    return sum(1 for _ in _read(_path_of(mark), mark))


def _path_of(mark: str) -> Path:
    return state_folder() / "audits" / f"{hashlib.sha256(mark.encode()).hexdigest()[:32]}.jsonl"


def _read(path: Path, mark: str) -> Iterator[tuple[int, TaskAnswer]]:
    try:
        with path.open("rb") as file:
            if time.time() - os.fstat(file.fileno()).st_mtime > STALE:
                return
            data = file.read(LIMITS.journal_size + 1)
    except OSError:
        return
    lines = data.split(b"\n")
    head = _value(lines[0])
    if not isinstance(head, dict) or head.get("of") != mark:
        return
    for line in lines[1:]:
        value = _value(line)
        with contextlib.suppress(TypeError, KeyError, ValueError):
            yield int(value["task"]), TaskAnswer.from_json(value["answer"])


def _mark_of(dataset: Dataset, plan: AuditPlan) -> str:
    """Return what tells the audit of a plan from others, as text."""
    document, request = dataset.document, plan.request
    digest = hashlib.sha256()
    if document.rules_are_made:
        digest.update(repr((os.path.abspath(dataset.path), document.frame)).encode("utf-8", "replace"))
        digest.update(repr([(node.path) for node in dataset.hierarchy.walk()]).encode("utf-8", "replace"))
    else:
        for part in document.to_chunks():
            digest.update(part)
    said = (
        __version__, digest.hexdigest(), dict(document.templates.values), str(request.level),
        sorted(request.arrays), request.sample, plan.cost.urls, plan.cost.chunks,
        [plan.bounds_of(chosen.path) for chosen in plan.chosen],
    )  # fmt: skip
    return json.dumps(said)


def _value(line: bytes) -> Any:
    match = _LINE.fullmatch(line)
    if match is None or int(match[1], 16) != zlib.crc32(match[2]):
        return None
    try:
        return json.loads(match[2])
    except (ValueError, RecursionError):
        return None


def _give_up_oldest(folder: Path) -> None:
    found = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in found[KEPT - 1 :]:
        path.unlink(missing_ok=True)
