"""How fsspec's packages are set for a bucket: what is sent there, and what is refused before anything is."""

from __future__ import annotations

import sys

import pytest
from servers.object_servers import ACCOUNT, ACCOUNT_KEY

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.buckets import filesystems
from refbrowser.io.origins import ConnectionSettings, Origin

ABFS = Origin.parse("abfs://box")
NAMED = Origin.parse("abfs://box@someaccount.dfs.core.windows.net")
CHINA = Origin.parse("abfs://box@someaccount.dfs.core.chinacloudapi.cn")
GS = Origin.parse("gs://bucket")
S3 = Origin.parse("s3://bucket")
OWN = {"anonymous": False}


def azure(origin: Origin, **settings: object) -> tuple[str, object]:
    """Return where a container is asked for, and with which credentials."""
    client = filesystems.filesystem(origin, ConnectionSettings(**settings)).service_client
    return client.url, client.credential


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCOUNT_NAME", "ACCOUNT_KEY", "SAS_TOKEN", "CONNECTION_STRING"):
        monkeypatch.delenv(f"AZURE_STORAGE_{name}", raising=False)
    filesystems._filesystem.cache_clear()


def test_where_containers_are_and_what_is_sent_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("adlfs")
    connection = f"BlobEndpoint=https://private.example/;AccountName={ACCOUNT};AccountKey={ACCOUNT_KEY}"
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", connection)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", ACCOUNT_KEY)
    home = "https://someaccount.blob.core.windows.net/"
    # Whatever the environment holds, who is anonymous sends none of it, and asks the account that he named.
    assert azure(NAMED) == (home, None)
    assert azure(ABFS, account="someaccount") == (home, None)
    assert azure(CHINA) == (home.replace("windows.net", "chinacloudapi.cn"), None)
    assert azure(ABFS, account="a", endpoint="http://127.0.0.1:1/a") == ("http://127.0.0.1:1/a/", None)
    url, credential = azure(NAMED, **OWN)
    assert (url, credential.account_key) == (home, ACCOUNT_KEY)
    url, credential = azure(ABFS, **OWN)
    assert (url, credential.account_key) == ("https://private.example/", ACCOUNT_KEY)
    monkeypatch.setenv("MINE", connection.replace("private", "mine"))
    assert azure(ABFS, profile="MINE", **OWN)[0] == "https://mine.example/"


def test_what_cannot_be_is_refused_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Origin.parse("abfs://box@metadata.example.com")
    cases = [
        (ABFS, {}, "account of abfs://box is not known"),
        (odd, {}, "is not known"),
        (ABFS, {"profile": "UNSET_VARIABLE", **OWN}, "holds no connection string"),
        (GS, {"profile": "/no/such/file.json", **OWN}, "no credentials file"),
        # What looks like a token is never sent to ask whose it is.
        (GS, {"profile": "ya29.token", **OWN}, "no credentials file"),
    ]
    for origin, settings, said in cases:
        with pytest.raises(RefbrowserError) as caught:
            filesystems.filesystem(origin, ConnectionSettings(**settings))
        assert caught.value.kind is ErrorKind.USAGE
        assert said in caught.value.message
    filesystems._session_without_redirects.cache_clear()
    for origin, package in ((S3, "s3fs"), (GS, "gcsfs.core"), (NAMED, "adlfs")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(RefbrowserError) as caught:
            filesystems.filesystem(origin, ConnectionSettings(region="nowhere"))
        assert caught.value.kind is ErrorKind.PROTOCOL
        assert package.partition(".")[0] in caught.value.message
        assert "refbrowser[cloud]" in caught.value.advice


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        (S3, {"credentials": "https://archive.example/s3credentials", **OWN}),
        (GS, OWN),
        (ABFS, {"account": "a", **OWN}),
    ],
)
def test_tokens_are_sent_to_no_service_openly(
    origin: Origin, said: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", "sig=SECRET")
    for endpoint in ("http://objects.example", "http://127.objects.example:9000", "objects.example"):
        with pytest.raises(RefbrowserError, match="over https alone") as raised:
            filesystems.filesystem(origin, ConnectionSettings(endpoint=endpoint, **said))
        assert raised.value.kind is ErrorKind.USAGE
        assert "SECRET" not in str(raised.value)
