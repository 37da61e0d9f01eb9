"""The rules of readers, held against each reader that is installed on a corpus of small stores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from reader_corpus.corpus import Store, all_stores, write_store

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.readers.features import FeatureFinder, Features
from refbrowser.engine.readers.matrix import ReaderVersion, judge
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.engine.readers.rules import RuleBook, rule_book
from refbrowser.exporting.check import Answers
from refbrowser.exporting.check_child import elements
from refbrowser.tools.readers.probes.installed import CHILD, InstalledReader, available
from refbrowser.tools.readers.probes.trying import Sample, asked_of, judged, sample_of

TRY_ALL = Path(__file__).parents[2] / "reader_corpus" / "try_all.py"


#: What rules have no words for, by reader and store, with why.
UNTOLD = {
    ("virtualizarr", "refs/a blank in a URL"): "features do not tell how URLs are spelled",
    ("virtualizarr", "refs/inline base64"): "features do not tell of chunks in the document",
    ("virtualizarr", "refs/metadata as objects"): "features do not tell how metadata is spelled",
}


@dataclass
class Written:
    """A store of the corpus as it was written: how readers are asked, what is read here, what it needs."""

    request: dict[str, Any]
    sample: Sample
    features: Features


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    folder = tmp_path_factory.mktemp("corpus")
    return {store.name: each for store in all_stores() for each in _written(store, folder)}


def _written(store: Store, folder: Path) -> Iterator[Written]:
    if not store.is_written_here():
        return
    with refbrowser.open(write_store(store, folder), allow=[str(folder)]) as dataset:
        array = dataset.array(store.array)
        sample = sample_of(array, JobControl())
        request = asked_of(dataset) | {"name": store.name, "arrays": [[store.array, sample.boxes]]}
        yield Written(request, sample, FeatureFinder(dataset).features(array.node))


@pytest.mark.slow
def test_the_corpus_is_read_here_as_it_was_written(corpus: dict[str, Written]) -> None:
    of_names = {store.name: store for store in all_stores()}
    assert len(corpus) >= 200
    for name, written in corpus.items():
        assert not written.sample.unread, name
        whole = [[[0, side] for side in of_names[name].values.shape]]
        assert list(written.sample.boxes) == whole, name
        assert written.sample.values == (elements(of_names[name].values),), name


def _tried(reader: InstalledReader, requests: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return what a reader answers to requests, by the name of the store."""
    given = json.dumps(requests)
    environment = {**os.environ, "HOME": tempfile.gettempdir()}
    command = [sys.executable, "-I", str(TRY_ALL), str(CHILD)]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, timeout=100, env=environment
    )
    assert done.returncode == 0, done.stderr
    return dict(map(json.loads, done.stdout.splitlines()))


def _installed_book(installed: tuple[InstalledReader, ...]) -> RuleBook:
    """Return the rules, with readers that read by others doing so by those that are installed."""
    versions = {each.name: each.version for each in installed}
    book = rule_book()
    readers = {
        name: replace(
            reader,
            through=tuple(
                replace(each, version=versions.get(each.reader, each.version)) for each in reader.through
            ),
        )
        for name, reader in book.readers.items()
    }
    return replace(book, readers=readers)


#: The readers that every run asks; the others take a minute together.
OF_EVERY_RUN = ("zarr-python", "xarray")
ASKED = [
    pytest.param(
        reader, id=reader.name, marks=pytest.mark.slow if reader.name in OF_EVERY_RUN else pytest.mark.long
    )
    for reader in available()
]


@pytest.mark.parametrize("reader", ASKED)
def test_rules_say_what_an_installed_reader_does(reader: InstalledReader, corpus: dict[str, Written]) -> None:
    book = _installed_book(available())
    column = ReaderVersion(book.reader(reader.name), reader.version)
    asked = {"program": reader.program, "library": reader.library}
    cells = {name: judge(written.features, column, book) for name, written in corpus.items()}
    told = {name: cell for name, cell in cells.items() if cell.verdict is not ReaderVerdict.UNKNOWN}
    tried = _tried(reader, [corpus[name].request | asked for name in told])
    assert tried.keys() == told.keys()
    wrong = []
    for name, cell in told.items():
        verdict, reason = _verdict(corpus[name], tried[name])
        if verdict is ReaderVerdict.UNKNOWN or _is_so(verdict, cell.verdict) or (reader.name, name) in UNTOLD:
            continue
        why = "; ".join(f"{', '.join(cause.features)}: {cause.reason}" for cause in cell.causes)
        found = f"{reader.name} {reader.version} {verdict} ({reason})"
        wrong.append(f"{name}: {found}, the rules say {cell.verdict} ({why})")
    assert not wrong, "\n".join(["", *wrong])


def _is_so(one: ReaderVerdict, other: ReaderVerdict) -> bool:
    """Tell whether both say alike that values are read, read wrongly, or not read: when, depends on how."""
    fails = {ReaderVerdict.OPENS, ReaderVerdict.REFUSES}
    return one is other or {one, other} <= fails


def _verdict(written: Written, told: list[dict[str, Any]]) -> tuple[ReaderVerdict, str]:
    answers, ended = Answers(), ""
    for each in told:
        if "crashed" in each:
            ended = f"crashed ({each['crashed']})"
        else:
            answers.take(json.dumps(each).encode())
    return judged(written.sample, answers, ended)
