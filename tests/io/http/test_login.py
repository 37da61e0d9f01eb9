"""Logins: name and password go to the place of the login alone, and what comes back to who gave it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from documents_made import DocumentMaker
from servers.login_server import NAME, PASSWORD, SECRETS, TOKEN, Archive

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.credentials import basic
from refbrowser.io.fetching.byte_sources import RemoteBytes
from refbrowser.io.fetching.fetch import Fetcher, read_document
from refbrowser.io.origins import Origin, parse_storage_options

DATA = np.arange(20_000, dtype="<u2").tobytes()


@pytest.fixture
def archive() -> Iterator[Archive]:
    with Archive({"/data.bin": DATA, "/moved.bin": DATA}) as made:
        yield made


def options(archive: Archive, netrc: Path) -> list[str]:
    origin = archive.data.origin
    return [f"{origin}:login={archive.login.origin}", f"{origin}:netrc={netrc}"]


def access_of(archive: Archive, said: list[str], *allow: str) -> Access:
    origins = [Origin.parse(each) for each in (archive.data.origin, *allow)]
    return Access.for_document("doc.json", origins, parse_storage_options(said))


def read(archive: Archive, access: Access, path: str = "/data.bin", fetcher: Fetcher | None = None) -> bytes:
    with fetcher or Fetcher() as own:
        source = RemoteBytes(f"{archive.data.origin}{path}", access, own, first=10)
        return bytes(source.read(0, source.size))


def test_one_login_serves_many_requests(archive: Archive, tmp_path: Path) -> None:
    access = access_of(archive, options(archive, archive.netrc(tmp_path / "netrc")))
    with Fetcher() as fetcher:
        source = RemoteBytes(f"{archive.data.origin}/data.bin", access, fetcher, first=10)
        assert bytes(source.read(0, source.size)) == DATA
        for start in range(0, 40_000, 5_000):
            assert bytes(source.read(start, 100)) == DATA[start : start + 100]
    assert len(archive.login.asked) == 1
    assert not any(each.authorization for each in archive.data.asked), "the archive gets no password"
    assert archive.data.asked[-1].cookie is not None
    assert "other=1" in archive.data.asked[-1].cookie, "dates in cookies end none of them"
    assert all(each.cookie is None for each in archive.login.asked)


def test_a_session_that_ended_is_made_again(archive: Archive, tmp_path: Path) -> None:
    access = access_of(archive, options(archive, archive.netrc(tmp_path / "netrc")))
    with Fetcher() as fetcher:
        source = RemoteBytes(f"{archive.data.origin}/data.bin", access, fetcher, first=10)
        archive.sessions.clear()
        assert bytes(source.read(30_000, 100)) == DATA[30_000:30_100]
    assert len(archive.login.asked) == 2


def test_a_password_that_is_not_accepted(archive: Archive, tmp_path: Path) -> None:
    access = access_of(archive, options(archive, archive.netrc(tmp_path / "netrc", "wrong-one")))
    with Fetcher() as fetcher:
        for _ in range(3):
            with pytest.raises(RefbrowserError, match="does not accept name and password") as raised:
                RemoteBytes(f"{archive.data.origin}/data.bin", access, fetcher, first=10)
    assert "wrong-one" not in repr(raised.value) + str(raised.value)
    assert len(archive.login.asked) == 1, "whoever asks again and again is locked out"


def test_a_page_that_only_people_can_answer(archive: Archive, tmp_path: Path) -> None:
    archive.page = True
    with pytest.raises(RefbrowserError, match="ended with the answer 200") as raised:
        read(archive, access_of(archive, options(archive, archive.netrc(tmp_path / "netrc"))))
    assert "browser" in raised.value.advice


def test_a_login_that_failed_is_not_tried_for_each_request(
    archive: Archive, tmp_path: Path, limits: Callable[..., None]
) -> None:
    archive.page = True
    access = access_of(archive, options(archive, archive.netrc(tmp_path / "netrc")))
    with Fetcher() as fetcher:
        for number in range(4):
            with pytest.raises(RefbrowserError, match="ended with the answer 200"):
                RemoteBytes(f"{archive.data.origin}/data.bin?{number}", access, fetcher, first=10)
        assert len(archive.login.asked) == 1
        archive.page = False
        limits(circuit_open=0)
        source = RemoteBytes(f"{archive.data.origin}/data.bin", access, fetcher, first=10)
        assert bytes(source.read(0, source.size)) == DATA


def test_a_login_that_never_ends_does(archive: Archive, tmp_path: Path) -> None:
    archive.leads_to = f"{archive.login.origin}/again"
    with pytest.raises(RefbrowserError, match="takes more than 10 requests"):
        read(archive, access_of(archive, options(archive, archive.netrc(tmp_path / "netrc"))))
    assert len(archive.login.asked) < 20


def test_many_cookies(archive: Archive, tmp_path: Path, limits: Callable[..., None]) -> None:
    limits(login_cookies=1)
    access = access_of(archive, options(archive, archive.netrc(tmp_path / "netrc")))
    assert read(archive, access) == DATA
    assert archive.data.asked[-1].cookie is not None
    assert "other" not in archive.data.asked[-1].cookie


def test_a_login_that_leads_elsewhere_is_refused(archive: Archive, tmp_path: Path) -> None:
    archive.leads_to = f"{archive.third.origin}/steal?code=good"
    access = access_of(archive, options(archive, archive.netrc(tmp_path / "netrc")), archive.third.origin)
    with pytest.raises(RefbrowserError, match="neither of the two") as raised:
        read(archive, access)
    assert raised.value.kind is ErrorKind.UNSAFE
    assert archive.third.asked == []


def test_a_session_that_is_never_good_ends(archive: Archive, tmp_path: Path) -> None:
    class Forgets(set):
        def add(self, item: str) -> None:
            pass

    archive.sessions = Forgets()
    with pytest.raises(RefbrowserError, match="again and again"):
        read(archive, access_of(archive, options(archive, archive.netrc(tmp_path / "netrc"))))
    assert len(archive.login.asked) < 5


def test_others_get_nothing_of_it(archive: Archive, tmp_path: Path) -> None:
    known = access_of(archive, options(archive, archive.netrc(tmp_path / "netrc")))
    unknown = access_of(archive, [])
    with Fetcher() as fetcher:
        RemoteBytes(f"{archive.data.origin}/data.bin", known, fetcher, first=10)
        count = len(archive.login.asked)
        with pytest.raises(RefbrowserError) as raised:
            RemoteBytes(f"{archive.data.origin}/data.bin?x", unknown, fetcher, first=10)
    assert raised.value.kind is ErrorKind.BLOCKED, "the place of the login is no place that it may read"
    assert archive.data.asked[-1].cookie is None
    assert len(archive.login.asked) == count


def test_who_has_another_password_has_another_session(archive: Archive, tmp_path: Path) -> None:
    good = access_of(archive, options(archive, archive.netrc(tmp_path / "netrc")))
    wrong = access_of(archive, options(archive, archive.netrc(tmp_path / "wrong", "wrong-one")))
    with Fetcher() as fetcher:
        RemoteBytes(f"{archive.data.origin}/data.bin", good, fetcher, first=10)
        with pytest.raises(RefbrowserError, match="does not accept"):
            RemoteBytes(f"{archive.data.origin}/data.bin?x", wrong, fetcher, first=10)


def test_a_cookie_that_is_given_on_the_way_is_given_back(archive: Archive, tmp_path: Path) -> None:
    archive.is_early = True
    assert read(archive, access_of(archive, options(archive, archive.netrc(tmp_path / "netrc")))) == DATA


def test_the_entry_for_all_other_hosts_is_for_none(tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("default login a password b\n")
    with pytest.raises(RefbrowserError, match="has no entry"):
        basic("default", str(tmp_path / "netrc"))


@pytest.mark.parametrize("by", ["login", "token"])
def test_a_redirect_to_another_host_carries_nothing(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setenv("EDL_TOKEN", TOKEN)
    archive.moved = {"/moved.bin"}
    said = options(archive, archive.netrc(tmp_path / "netrc"))
    said = said if by == "login" else [f"{archive.data.origin}:token=EDL_TOKEN"]
    access = access_of(archive, said, archive.third.origin)
    assert read(archive, access, "/moved.bin") == DATA
    assert archive.third.asked
    assert all(each.authorization is None and each.cookie is None for each in archive.third.asked)


def test_a_token(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDL_TOKEN", TOKEN)
    assert read(archive, access_of(archive, [f"{archive.data.origin}:token=EDL_TOKEN"])) == DATA
    assert archive.login.asked == []
    monkeypatch.setenv("EDL_TOKEN", "two words")
    with pytest.raises(RefbrowserError, match="holds no token") as raised:
        read(archive, access_of(archive, [f"{archive.data.origin}:token=EDL_TOKEN"]))
    assert "two words" not in str(raised.value)


def test_name_and_password_of_the_host_itself(archive: Archive, tmp_path: Path) -> None:
    netrc = archive.netrc(tmp_path / "netrc")
    origin = archive.login.origin
    access = Access.for_document(origin, [], parse_storage_options([f"{origin}:netrc={netrc}"]))
    archive.page = True
    assert bytes(read_document(f"{origin}/x", access).data).startswith(b"<html>")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "machine elsewhere login a password b\ndefault login c password d\n",
            "has no entry for",
        ),
        ("machine 127.0.0.1 bogus\n", "is faulty in line"),
        (None, "cannot be read"),
    ],
)
def test_netrc_files_that_do_not_help(archive: Archive, tmp_path: Path, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "netrc").write_text(text)
    with pytest.raises(RefbrowserError, match=words) as raised:
        read(archive, access_of(archive, options(archive, tmp_path / "netrc")))
    assert raised.value.kind is ErrorKind.USAGE
    assert archive.login.asked == []


def test_a_changed_netrc_file_is_read_again(archive: Archive, tmp_path: Path) -> None:
    netrc = archive.netrc(tmp_path / "netrc", "wrong-one")
    with pytest.raises(RefbrowserError):
        read(archive, access_of(archive, options(archive, netrc)))
    archive.netrc(netrc)
    os.utime(netrc, (5, 5))
    assert read(archive, access_of(archive, options(archive, netrc))) == DATA


@pytest.mark.parametrize("setting", ["token=EDL", "netrc=true"])
@pytest.mark.parametrize("host", ["data.example", "127.data.example", "localhost.example"])
def test_nothing_is_sent_openly(setting: str, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDL", TOKEN)
    (settings,) = parse_storage_options([f"http://{host}:{setting}"]).values()
    with pytest.raises(RefbrowserError, match="over https alone"):
        settings.header_values(Origin.parse(f"http://{host}"))
    for place in ("http://login.example", "http://127.login.example", "ftp://login.example"):
        with pytest.raises(RefbrowserError):
            parse_storage_options([f"https://data.example:login={place}"])


def test_settings_hold_no_secrets(archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDL_TOKEN", TOKEN)
    said = [*options(archive, archive.netrc(tmp_path / "netrc")), f"{archive.data.origin}:token=EDL_TOKEN"]
    text = repr(parse_storage_options(said))
    assert not any(secret in text for secret in (*SECRETS, NAME, PASSWORD))


@pytest.mark.slow
def test_nothing_of_it_is_written_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    maker = DocumentMaker(tmp_path)
    maker.array("a", np.arange(12, dtype="<i4"), (4,), compressors=None)
    document = maker.write()
    monkeypatch.setenv("EDL_TOKEN", TOKEN)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Archive({}) as archive:
        archive.files = {f"/{each.name}": each.read_bytes() for each in (document, tmp_path / "data.bin")}
        url = f"{archive.data.origin}/document.json"
        netrc = archive.netrc(tmp_path / "netrc")
        said = [part for text in options(archive, netrc) for part in ("--storage-option", text)]
        out = tmp_path / "out"
        out.mkdir()
        assert main(["read", url, "/a", "--json", *said]) == 0
        assert "[0, 1, 2, 3" in capsys.readouterr().out
        for command in (
            ["export", url, str(out / "made.json"), "--to", "refs-v1"],
            ["export", url, str(out / "made.zarr"), "--to", "zarr-v3"],
            ["lock", str(out / "made.json"), "--allow", archive.data.origin],
            ["audit", url, "--level", "full", "--report", str(out / "audit.json")],
        ):
            assert main([*command, *said]) == 0, command
        told = capsys.readouterr()
        with refbrowser.open(url, storage_options=options(archive, netrc)) as dataset:
            assert dataset.array("/a")[...].tolist() == list(range(12))
        cookies = [each.cookie for each in archive.data.asked if each.cookie]
        assert cookies
        secrets = [*SECRETS, *archive.sessions]
    written = [each for folder in (out, tmp_path / "state") for each in folder.rglob("*") if each.is_file()]
    assert written
    texts = [told.out, told.err, *(each.read_bytes().decode("latin-1") for each in written)]
    assert not any(secret in text for secret in secrets for text in texts)
