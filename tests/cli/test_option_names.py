"""Options of verbs: one that means the same has the same name and takes the same, whichever verb it is of."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from refbrowser.cli.options import add_further
from refbrowser.cli.program import parser_of, window_parser
from refbrowser.tools.registry import BUILT_IN, tool_named

#: Options whose values are called otherwise from verb to verb: a file is written, a folder, or either.
CALLED_DIFFERENTLY = {"--output", "-o"}
#: Names of values that mean the same but for these: there is one for each thing.
VALUES = {
    "ARRAY": ("A", "VARIABLE"),
    "FILE": ("F", "FILENAME"),
    "DIM": ("DIMENSION",),
    "DIR": ("FOLDER",),
}


@cache
def parsers() -> dict[str, argparse.ArgumentParser]:
    found = {"": window_parser()}
    for tool in BUILT_IN:
        found[tool.name] = parser_of(tool)
        add_further(found[tool.name])
    return found


def options() -> Iterator[tuple[str, str, argparse.Action]]:
    """Yield verb, name and option, of every name of every option."""
    for verb, parser in parsers().items():
        for action in parser._actions:
            yield from ((verb, name, action) for name in action.option_strings)


@pytest.mark.slow
def test_an_option_of_several_verbs_takes_the_same() -> None:
    found: dict[str, dict[tuple[bool, object], list[str]]] = defaultdict(lambda: defaultdict(list))
    for verb, name, action in options():
        value = None if name in CALLED_DIFFERENTLY else action.metavar
        found[name][action.nargs == 0, value].append(verb)
    assert {name: dict(ways) for name, ways in found.items() if len(ways) > 1} == {}


@pytest.mark.slow
def test_what_means_the_same_has_one_name() -> None:
    names: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for _, _, action in options():
        names[action.help or ""].add(tuple(action.option_strings))
    assert {words: found for words, found in names.items() if len(found) > 1} == {}


@pytest.mark.slow
def test_values_are_called_by_one_name() -> None:
    others = {name for names in VALUES.values() for name in names}
    assert {(verb, name) for verb, name, action in options() if action.metavar in others} == set()


@pytest.mark.slow
def test_what_all_verbs_have_they_say_in_the_same_words() -> None:
    for common in (
        "--json",
        "--quiet",
        "--verbose",
        "--allow",
        "--storage-option",
        "--dask",
        "--template",
        "--stale",
    ):
        words = {action.help for _, name, action in options() if name == common}
        assert len(words) == 1, common
    verbs = {verb for verb, name, _ in options() if name == "--json"}
    assert verbs == set(parsers())


@pytest.mark.slow
def test_old_names_are_no_options_of_the_verb_and_lead_to_one() -> None:
    for tool in BUILT_IN:
        known = {name for verb, name, _ in options() if verb == tool.name}
        for old, new in tool.renamed.items():
            assert old not in known or (tool.name, old) == ("lock", "--accept")
            assert new in known, (tool.name, new)


def test_the_name_that_merge_had_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    from refbrowser.cli import main

    merge = tool_named("merge")
    assert merge is not None
    assert merge.renamed == {"--name": "--label"}
    assert main(["merge", "none.json", "none.json", "none.json", "-o", "x.json", "--name", "x"]) == 6
    assert "note: --name is called --label now" in capsys.readouterr().err
