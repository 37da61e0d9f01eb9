"""Connection settings of the user."""

from __future__ import annotations

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.origins import ConnectionSettings, Origin, parse_storage_options


def test_options_are_collected_per_origin() -> None:
    settings = parse_storage_options(
        [
            "s3://bucket:endpoint=https://minio.example:9000",
            "s3://bucket:profile=work",
            "http://data.example:8080:header.Authorization=MY_TOKEN",
        ]
    )
    bucket = settings[Origin.parse("s3://bucket")]
    assert (bucket.endpoint, bucket.profile, bucket.anonymous) == (
        "https://minio.example:9000",
        "work",
        False,
    )
    assert settings[Origin.parse("http://data.example:8080")].headers == {"Authorization": "MY_TOKEN"}


HERE = Origin.parse("https://data.example")


@pytest.mark.parametrize(
    "text",
    [
        "s3://bucket:anonymous", "anonymous=true", "s3://bucket:unknown=1", "s3://bucket:anonymous=maybe",
        "http://a:header.Host=X", "http://a:header.Range=X", "http://a:header.a b=X", ":endpoint=x",
    ],
)  # fmt: skip
def test_refused_options(text: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        parse_storage_options([text])
    assert caught.value.kind == ErrorKind.USAGE


@pytest.mark.parametrize("setting", ["token=eyJhbGciOi.SECRET", "header.Authorization=Bearer SECRET"])
def test_a_secret_in_place_of_the_name_of_a_variable_is_not_repeated(setting: str) -> None:
    with pytest.raises(RefbrowserError, match="not the value itself") as raised:
        parse_storage_options([f"https://data.example:{setting}"])
    assert raised.value.kind is ErrorKind.USAGE
    assert "SECRET" not in str(raised.value)


def test_header_values_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ConnectionSettings(headers={"Authorization": "MY_TOKEN"})
    monkeypatch.setenv("MY_TOKEN", "Bearer abc")
    assert settings.header_values(HERE) == {"Authorization": "Bearer abc"}
    assert "Bearer" not in repr(settings)
    for value in ("a\r\nX: y", "é"):
        monkeypatch.setenv("MY_TOKEN", value)
        with pytest.raises(RefbrowserError):
            settings.header_values(HERE)
    monkeypatch.delenv("MY_TOKEN")
    with pytest.raises(RefbrowserError):
        settings.header_values(HERE)
