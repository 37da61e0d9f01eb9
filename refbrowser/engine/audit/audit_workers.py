"""Tasks of an audit that run elsewhere: each process opens the dataset once."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from refbrowser.engine.audit.audit_tasks import AuditTask, TaskAnswer, carry_out
from refbrowser.engine.compute import shared
from refbrowser.engine.frozen import FrozenDataset
from refbrowser.engine.peers import worker_name
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.engine.compute import Executor
    from refbrowser.engine.dataset import Dataset

_lock = threading.Lock()
#: The dataset that this process has open for audits of others, and the digest of what it was told.
_kept: list[tuple[str, Dataset]] = []


def answers(
    dataset: Dataset, executor: Executor, tasks: Generator[AuditTask, None, None], token: CancelToken
) -> Generator[tuple[AuditTask, TaskAnswer | BaseException], None, None]:
    """Have tasks carried out, here or elsewhere; yields each with its answer or error as it ends.

    Raises
    ------
    RefbrowserError
        `E_SOURCE`: there is nobody left to do it.
    Cancelled
        The token was cancelled.
    """
    if not executor.is_apart:
        yield from executor.run(lambda task: carry_out(dataset, task, token), tasks, token)
        return
    data = pickle.dumps(FrozenDataset.of(dataset), pickle.HIGHEST_PROTOCOL)
    order, digest = executor.share(data), hashlib.sha256(data).hexdigest()
    items = ((order, digest, task) for task in tasks)
    for (_, _, task), answer in executor.run(work_on, items, token):
        yield task, answer


def work_on(item: tuple[Any, str, AuditTask]) -> TaskAnswer:
    """Carry out a task in another process.

    Parameters
    ----------
    item
        What stands for the dataset, the digest of that, and the task.

    Raises
    ------
    RefbrowserError
        The dataset cannot be opened here.
    """
    order, digest, task = item
    return carry_out(_opened(order, digest), task, CancelToken())


def _opened(order: Any, digest: str) -> Dataset:
    with _lock:
        if _kept and _kept[0][0] == digest:
            return _kept[0][1]
        data = shared(order)
        if hashlib.sha256(data).hexdigest() != digest:
            raise RefbrowserError(ErrorKind.SOURCE, f"worker {worker_name()} was given another dataset")
        # Our own words: from the program that this process works for.
        dataset: Dataset = pickle.loads(data).dataset()
        # One that others of this process still read is closed with the process.
        _kept[:] = [(digest, dataset)]
        return dataset
