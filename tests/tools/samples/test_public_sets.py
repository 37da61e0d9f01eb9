"""Public datasets are listed with lines that open them, and nothing is asked of them."""

from __future__ import annotations

import json
import socket

import pytest

import refbrowser
from refbrowser.cli import main
from refbrowser.io.origins import Origin, split_url
from refbrowser.tools.samples.public_sets import PublicSet


def test_each_has_a_line_that_can_be_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert main(["samples"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for each in refbrowser.samples():
        at = lines.index(f"{each.name}: {each.words} ({each.format})")
        assert lines[at + 1].split()[:2] == ["refbrowser", each.url]
    assert "    refbrowser" in lines[1]
    assert lines[1].endswith(" --allow s3://noaa-nos-ofs-pds")


def test_they_are_given_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["samples", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["samples"]
    assert [each["url"] for each in found] == [each.url for each in refbrowser.samples()]


@pytest.mark.parametrize("public", refbrowser.samples(), ids=lambda public: public.name)
def test_each_is_of_a_place_that_can_be_opened(public: PublicSet) -> None:
    split_url(public.url)
    assert public.url.startswith(("https://", "s3://", "gs://"))
    if public.allow:
        assert str(Origin.parse(public.allow)) == public.allow
