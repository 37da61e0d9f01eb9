"""What ``refbrowser.ncstream`` gives to programs: append to streams of messages, compact and repair them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from refbrowser.api import open as open_dataset
from refbrowser.engine.dataset import Dataset
from refbrowser.wings.ncstream.changing.append import AppendReport, AppendRequest, append_to
from refbrowser.wings.ncstream.changing.compact import CompactReport, CompactRequest
from refbrowser.wings.ncstream.changing.compact import compact as compact_dataset
from refbrowser.wings.ncstream.changing.repair import RepairReport, RepairRequest
from refbrowser.wings.ncstream.changing.repair import repair as repair_stream

Path = str | os.PathLike[str]

__all__ = ["append", "compact", "repair"]


def append(
    stream: Path,
    source: Dataset | Path,
    *,
    along: str | None = None,
    overwrite: bool = False,
    arrays: Iterable[str] | None = None,
    level: int | None = None,
    force: bool = False,
) -> AppendReport:
    """Add values and changed attributes of a dataset to a stream, without writing it anew.

    Parameters
    ----------
    stream
        A local file; it is changed in place, and never torn.
    source
        What is added: an opened dataset, or what to open. Of the stream itself, edited, the attributes.
    along
        The dimension that gets longer; None takes the only unlimited one of both.
    overwrite
        Lay the values over those of the stream, instead of behind them.
    arrays
        Paths of the arrays that are taken; all when None.
    level
        Of deflate, 0 for none; None does as the stream does.
    force
        Drop what stands behind the end of the stream.

    Raises
    ------
    RefbrowserError
        The stream is damaged, the source does not fit it, or something cannot be read or written: the stream
        is as it was.
    """
    chosen = None if arrays is None else tuple(arrays)
    request = AppendRequest(along=along, overwrite=overwrite, arrays=chosen, level=level, force=force)
    with _opened(source) as dataset:
        return append_to(stream, dataset, request)


def compact(
    stream: Dataset | Path,
    target: Path,
    *,
    level: int | None = None,
    checksum: bool = True,
    force: bool = False,
) -> CompactReport:
    """Write a stream anew: one header, each element once, messages of a good size.

    Parameters
    ----------
    stream
        An opened stream, or what to open.
    level
        Of deflate, 0 for none; None deflates what is deflated.
    checksum
        Tell the CRC-32 of each payload.
    force
        Replace the target, which may be the stream itself.

    Raises
    ------
    RefbrowserError
        The stream is none or damaged, the target exists or cannot be written: it is as it was.
    """
    request = CompactRequest(target=os.fspath(target), level=level, checksum=checksum, force=force)
    with _opened(stream) as dataset:
        return compact_dataset(dataset, request)


def repair(
    stream: Path, target: Path, *, cut: bool = False, force: bool = False, allow: Iterable[str] = ()
) -> RepairReport:
    """Write what is sound of a damaged stream; the report says what is lost.

    Parameters
    ----------
    cut
        Keep nothing behind the first damage.
    force
        Replace the target, which may be the stream itself.
    allow
        Origins that may be read from, where the stream is at a URL.

    Raises
    ------
    RefbrowserError
        Nothing of the stream is sound, or the target exists or cannot be written: it is as it was.
    """
    origins = (allow,) if isinstance(allow, str) else tuple(allow)
    names = os.fspath(stream), os.fspath(target)
    return repair_stream(RepairRequest(*names, cut=cut, force=force, allow=origins))


@contextmanager
def _opened(source: Dataset | Path) -> Iterator[Dataset]:
    if isinstance(source, Dataset):
        yield source
        return
    with open_dataset(source) as dataset:
        yield dataset
