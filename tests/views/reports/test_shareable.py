"""What leaves this machine in reports: neither the user's folder nor what lets somebody in."""

from __future__ import annotations

import shlex

import pytest

from refbrowser.views.reports.shareable import HIDDEN, cut_text, shareable, shareable_command, shareable_html


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder of this test."""
    monkeypatch.setenv("HOME", "/home/an&na")
    monkeypatch.setenv("USERPROFILE", "/home/an&na")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/home/an&na/data/x.json", "~/data/x.json"),
        ("see '/home/an&na'", "see '~'"),
        ("file:///home/an&na/x", "file://~/x"),
        ("/home/an&nabel/x", "/home/an&nabel/x"),
        ("/home/an&na.old/x", "/home/an&na.old/x"),
        ("https://me:word@host/x?a=1", "https://…@host/x?a=1"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://h/x?a=1&X-Amz-Signature=abc&b=2", "https://h/x?a=1&X-Amz-Signature=…&b=2"),
        ("https://h/x?sig=abc%3D#part", "https://h/x?sig=…#part"),
        ("'https://h/x?ACCESS_TOKEN=abc' is gone", "'https://h/x?ACCESS_TOKEN=…' is gone"),
        ("time=2024, key=lat", "time=2024, key=lat"),
        ("plain text", "plain text"),
    ],
)
def test_text_is_told_without_home_and_secrets(text: str, told: str) -> None:
    assert shareable(text) == told


def test_html_is_told_so_too() -> None:
    page = "<p title='https://h/?a=1&amp;token=abc&amp;b=2'>/home/an&amp;na/x</p><b>https://u:p@h/</b>"
    told = "<p title='https://h/?a=1&amp;token=…&amp;b=2'>~/x</p><b>https://…@h/</b>"
    assert shareable_html(page) == told


def test_a_command_can_be_pasted() -> None:
    words = ["refbrowser", "info", "/home/an&na/my data.json", "--template", "token=two words", "a'b;c"]
    told = shareable_command(words)
    assert told == f"refbrowser info ~/'my data.json' --template 'token={HIDDEN}' 'a'\"'\"'b;c'"
    assert shlex.split(told)[-1] == "a'b;c"
    assert shareable_command(["/home/an&na/x"]) == "~/x"


def test_a_cut_text_tells_nothing_that_a_whole_one_hides() -> None:
    # The cut is between the password and what shows that it is one.
    text = "https://" + "u" * 40 + ":word@host/"
    for most in range(1, len(text)):
        told = cut_text(text, most)
        assert "u:w" not in told
        assert len(told) <= most + 1
    assert cut_text("abc", 3) == "abc"
    assert cut_text("abcd", 3) == "abc…"
    assert shareable(f"https://user:wo{HIDDEN}") == f"https://{HIDDEN}@"


def test_a_root_that_has_no_home_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    monkeypatch.setenv("USERPROFILE", "/")
    assert shareable("/data/x") == "/data/x"
