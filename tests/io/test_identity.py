"""When an object counts as changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.identity import FileIdentity, ObjectIdentities, ObjectIdentity, moment_of

FIRST = ObjectIdentity(100, '"a"', "Monday")
URL = "http://data.example/a"


@pytest.mark.parametrize(
    "seen",
    [
        FIRST,
        ObjectIdentity(None, '"a"', "Monday"),
        ObjectIdentity(100, None, None),
        ObjectIdentity(100, '"b"', "Monday"),
        ObjectIdentity(100, '"a"', "Tuesday"),
        ObjectIdentity(100, '"a"', None),
    ],
)
def test_the_same_object(seen: ObjectIdentity) -> None:
    identities = ObjectIdentities()
    identities.confirm(URL, FIRST)
    identities.confirm(URL, seen)


@pytest.mark.parametrize(
    "seen",
    [
        ObjectIdentity(101, '"a"', "Monday"),
        ObjectIdentity(100, '"b"', "Tuesday"),
        ObjectIdentity(100, '"b"', None),
        ObjectIdentity(100, None, "Tuesday"),
    ],
)
def test_a_changed_object(seen: ObjectIdentity) -> None:
    identities = ObjectIdentities()
    identities.confirm(URL, FIRST)
    with pytest.raises(RefbrowserError) as caught:
        identities.confirm(URL, seen)
    assert caught.value.kind == ErrorKind.SOURCE
    assert caught.value.place.url == URL
    assert identities.known(URL) == FIRST
    assert identities.changed == {URL}


def test_a_tag_that_varies_is_one_warning() -> None:
    identities = ObjectIdentities()
    for tag in ('"a"', '"b"', '"a"', '"c"'):
        identities.confirm(URL, ObjectIdentity(100, tag, "Monday"))
    assert len(identities.warnings) == 1
    assert identities.changed == frozenset()
    assert identities.warnings[0].place.url == URL


def test_what_is_learned_later_is_kept() -> None:
    identities = ObjectIdentities()
    identities.confirm(URL, ObjectIdentity(None, '"a"', None))
    identities.confirm(URL, ObjectIdentity(100, '"a"', None))
    with pytest.raises(RefbrowserError):
        identities.confirm(URL, ObjectIdentity(99, '"a"', None))


def test_a_change_that_sets_the_time_back_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    before = path.stat()
    was = FileIdentity.of(before)
    while True:
        # Clocks of file systems are coarse.
        path.write_bytes(b"new")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        if path.stat().st_ctime_ns != before.st_ctime_ns:
            break
    now = FileIdentity.of(path.stat())
    assert (now.size, now.modified_ns) == (was.size, was.modified_ns)
    assert now != was
    assert not now.as_object().is_same(was.as_object())
    assert moment_of(now.as_object()) == moment_of(was.as_object())
