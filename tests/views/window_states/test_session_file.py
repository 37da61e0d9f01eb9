"""The file of a session: back and forth, taken elsewhere, without secrets, and written by an enemy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.tools.schema.schemas import SESSION, schema_text
from refbrowser.views.plot_states.plot_state import PlotState
from refbrowser.views.window_states.session_file import parse_session, places_outside, session_text
from refbrowser.views.window_states.window_state import AREAS, DockState, DocumentState, WindowState

SCHEMA = Draft202012Validator(json.loads(schema_text(SESSION)))
NAMES = st.text(st.characters(exclude_characters="\0/", exclude_categories=("Cs",)), min_size=1, max_size=8)
PATHS = st.lists(NAMES.filter(lambda name: name not in (".", "..")), min_size=1, max_size=3).map(
    lambda parts: "/data/" + "/".join(parts)
)
DOCUMENTS = st.builds(
    DocumentState,
    path=PATHS,
    expression=st.sampled_from(["", "/a - /b"]),
    documents=st.dictionaries(NAMES, PATHS, max_size=2),
    options=st.dictionaries(NAMES, NAMES, max_size=2),
    selected=NAMES,
)
DOCKS = st.builds(
    DockState,
    name=NAMES,
    area=st.sampled_from(AREAS),
    behind=NAMES,
    is_shown=st.booleans(),
    is_front=st.booleans(),
    width=st.integers(0, 100_000),
    height=st.integers(0, 100_000),
)
STATES = st.builds(
    WindowState,
    documents=st.lists(DOCUMENTS, max_size=3).map(tuple),
    current=st.integers(-1, 5),
    sets=st.lists(st.lists(PATHS, min_size=1, max_size=3).map(tuple), max_size=2).map(tuple),
    plots=st.lists(st.builds(PlotState, path=PATHS, node=NAMES, selection=NAMES), max_size=2).map(tuple),
    arrangement=st.sampled_from([{}, {"split": [0, {"tabs": [1, 2]}]}]),
    tab=NAMES,
    docks=st.lists(DOCKS, max_size=2).map(tuple),
    others=st.sampled_from([{}, {"notes": ["x", 1]}]),
)


def state(*paths: str) -> WindowState:
    return WindowState(tuple(map(DocumentState, paths)))


def said(**members: Any) -> bytes:
    return json.dumps({"refbrowser": "session", "version": 1, **members}).encode()


@pytest.mark.slow
@given(STATES, st.sampled_from(["/data", "/data/deep", "/elsewhere", "/"]))
def test_a_session_comes_back_from_its_file_as_it_was(state: WindowState, folder: str) -> None:
    text, left_out = session_text(state, folder)
    assert not left_out
    assert parse_session(text, folder).state == state


@pytest.mark.slow
@given(STATES)
def test_a_session_is_as_its_schema_says(state: WindowState) -> None:
    SCHEMA.validate(json.loads(session_text(state, "/data")[0]))


def test_the_schema_declares_every_member() -> None:
    known = SCHEMA.schema["$defs"]
    for name, kind in {"document": DocumentState, "plot": PlotState, "dock": DockState}.items():
        written = {each.metadata["name"] or each.name for each in kind._fields()}
        assert set(known[name]["properties"]) == written
    own = {each.name for each in WindowState._fields()}
    assert set(SCHEMA.schema["properties"]) == own | {"refbrowser", "version", "program"}


def test_what_is_below_the_file_goes_with_it() -> None:
    before = state("/mine/run/t.nc", "/mine/sst.json", "/mine2/x.nc", "s3://bucket/store")
    before = replace(
        before,
        sets=(("/mine/a/1.nc", "/mine/a/2.nc"),),
        plots=(PlotState("/mine/run/t.nc", "/t", "/t - sst::/sst", {"sst": "/mine/sst.json"}),),
    )
    text, _ = session_text(before, "/mine")
    assert b"/mine/" not in text
    after = parse_session(text, "/theirs").state
    assert list(after.paths()) == [path.replace("/mine/", "/theirs/") for path in before.paths()]


def test_a_name_that_reads_as_a_url_stays_a_file() -> None:
    before = state("/mine/s3:/x", "/mine/https:")
    text, _ = session_text(before, "/mine")
    assert parse_session(text, "/mine").state == before


def test_what_lets_read_is_not_written() -> None:
    before = state("https://me:secret@host.org/a.json", "https://host.org/b.json?X-Amz-Signature=abc&x=1")
    text, left_out = session_text(before, "/mine")
    assert b"secret" not in text
    assert b"abc" not in text
    assert len(left_out) == 2
    assert [each.path for each in parse_session(text, "/mine").state.documents] == [
        "https://host.org/a.json",
        "https://host.org/b.json?x=1",
    ]


def test_what_lets_read_is_not_taken_either() -> None:
    found = parse_session(said(documents=[{"path": "https://u:p@host.org/a"}]), "/mine")
    assert found.state == state("https://host.org/a")
    assert found.left_out == ("a user name or password",)


def test_places_outside_of_the_folder_are_named() -> None:
    found = places_outside(state("/mine/a", "/mine/b/c", "/other/d", "https://h.org/x", "s3://b/k"), "/mine")
    assert found == ["the folder /other", "the server https://h.org", "the bucket s3://b"]
    assert places_outside(state("/mine/a"), "/mine") == []


def test_links_that_lead_out_of_the_folder_are_named(tmp_path: Path) -> None:
    folder = str(tmp_path)
    for name, target in (("out", "/other/d"), ("in", "a"), ("up", "../x/y"), ("loop", "loop"), ("on", "out")):
        (tmp_path / name).symlink_to(target)
    assert places_outside(state(*(f"{folder}/{name}" for name in ("in", "in/b", "a"))), folder) == []
    for name, where in (("out", "/other"), ("out/e", "/other/d"), ("on", "/other"), ("loop", folder)):
        assert places_outside(state(f"{folder}/{name}"), folder) == [f"the folder {where}"]
    assert places_outside(state(f"{folder}/up"), folder) == [f"the folder {tmp_path.parent}/x"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/dev/zero", ErrorKind.UNSAFE),
        ("/proc/self/environ", ErrorKind.UNSAFE),
        ("../../../dev/random", ErrorKind.UNSAFE),
        ("//server/share/x.nc", ErrorKind.UNSAFE),
        ("", ErrorKind.SCHEMA),
        ("gopher://x/y", ErrorKind.PROTOCOL),
        ("https://exa\tmple.org/", ErrorKind.UNSAFE),
        ("zip://x::https://y", ErrorKind.PROTOCOL),
    ],
)
def test_a_place_that_no_link_leads_to_is_refused(path: str, kind: ErrorKind) -> None:
    for members in ({"documents": [{"path": path}]}, {"sets": [[path]]}):
        with pytest.raises(RefbrowserError) as caught:
            parse_session(said(**members), "/mine")
        assert caught.value.kind is kind


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b'{"version": 1, "refs": {}}',
        b'{"refbrowser": "session"}',
        b'{"refbrowser": "session", "version": 2}',
        b'{"refbrowser": "session", "version": true}',
        b'{"refbrowser": "session", "version": 1, "x": NaN}',
        b'{"refbrowser": ["session"], "version": 1}',
        b'\xff{"refbrowser": "session", "version": 1}',
        b"[" * 100_000,
        said(documents=[{"path": "a"}] * 1_001),
        said(documents={"path": "a"}),
        said(documents=[{}]),
        said(current=1.5),
        said(sets=[[]]),
        said(sets=["ab"]),
        said(plots=[{"path": "a", "node": 1}]),
        said(arrangement=[1]),
        said(docks=[{"name": "x", "area": "sky"}]),
        said(docks=[{"name": "x", "width": -1}]),
        said(docks=[{"name": "x"}] * 65),
    ],
    ids=lambda data: data[:50].decode("latin-1"),
)
def test_what_is_no_session_is_refused(data: bytes) -> None:
    with pytest.raises(RefbrowserError) as caught:
        parse_session(data, "/mine")
    assert len(str(caught.value)) < 500


def test_a_session_that_is_too_large_is_not_parsed() -> None:
    with pytest.raises(RefbrowserError, match="session_size"):
        parse_session(b" " * (LIMITS.session_size + 1), "/mine")


def test_a_later_member_is_written_again_and_takes_the_place_of_none() -> None:
    found = parse_session(said(weather="fair"), "/mine").state
    assert found.others == {"weather": "fair"}
    text, _ = session_text(replace(found, others={"weather": "fair", "version": 7}), "/mine")
    assert parse_session(text, "/mine").state.others == {"weather": "fair"}
