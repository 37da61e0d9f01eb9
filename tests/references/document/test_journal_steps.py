"""A history survives as operations: replayed on the saved text it has the same states at every step."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deep import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History, Revert
from refbrowser.references.document.journal import Operation, Recorder, edit_from_json, replayed
from refbrowser.references.edits.edits import (
    AddTemplate,
    Compound,
    InsertRule,
    RemoveReference,
    RemoveTemplate,
    ReplaceUrlPrefix,
    SetMetadata,
    SetReference,
    SetTemplate,
)

KEYS = st.sampled_from(["a/0", "a/1", ".zattrs", "é"])
EDITS = st.one_of(
    st.builds(SetReference, KEYS, st.sampled_from([["s3://b/x"], ["s3://b/y", 1, 2], "text"])),
    st.builds(RemoveReference, KEYS),
    st.builds(AddTemplate, st.sampled_from("tu"), st.just("s3://b/t")),
    st.builds(SetTemplate, st.sampled_from("tu"), st.just("s3://b/é")),
    st.builds(RemoveTemplate, st.sampled_from("tu")),
    st.builds(ReplaceUrlPrefix, st.just("s3://b"), st.sampled_from(["s3://c", "s3://b"])),
    st.builds(SetMetadata, st.just(".zattrs"), st.dictionaries(KEYS, st.floats(allow_nan=False), max_size=2)),
    st.builds(InsertRule, st.just(0), st.just({"key": "g", "url": "u", "dimensions": {"i": {"stop": 2}}})),
)
DATA = json.dumps({"version": 1, "refs": {"a/0": ["s3://b/x", 0, 9], "é": "base64:QQ=="}}, indent=1).encode()


class JournalMachine(RuleBasedStateMachine):
    """Whatever is done, and saved in between, what is recorded leads there from the saved text."""

    @initialize()
    def open(self) -> None:
        self.history = History(ReferenceDocument.of(DATA))
        self.recorder = Recorder(self.history)
        self.kept: list[Any] = []

    def follow(self) -> None:
        """Take over what was done, as the journal does."""
        if not self.recorder.belongs_to(self.history):
            self.recorder = Recorder(self.history)
            self.kept = []
        self.recorder.follow(self.history)
        new = self.recorder.operations[len(self.kept) :]
        self.kept += [json.loads(json.dumps(operation.to_json())) for operation in new]

    @rule(edit=EDITS)
    def edit(self, edit: Any) -> None:
        try:
            self.history.apply(edit)
        except RefbrowserError:
            return
        self.follow()

    @rule(first=EDITS, second=EDITS)
    def compound(self, first: Any, second: Any) -> None:
        self.edit(Compound("both", (first, second)))

    @rule()
    def undo(self) -> None:
        self.history.undo()
        self.follow()

    @rule()
    def redo(self) -> None:
        self.history.redo()
        self.follow()

    @rule()
    def revert(self) -> None:
        if self.history.is_dirty:
            self.history.apply(Revert(self.history.saved))
            self.follow()

    @rule(value=st.sampled_from(["x", "y"]))
    def use_template_value(self, value: str) -> None:
        self.history.set_template_values({"t": value})
        self.follow()

    @rule(back=st.integers(0, 2))
    def save(self, back: int) -> None:
        """Save a state that is up to two edits old, as one that took long."""
        states = self.history.states[: self.history.position + 1]
        self.history.mark_saved(states[max(len(states) - 1 - back, 0)])
        self.follow()

    @invariant()
    def operations_lead_here(self) -> None:
        if not hasattr(self, "history"):
            return
        text = self.history.saved.to_bytes()
        made, error = replayed(ReferenceDocument.of(text), map(Operation.from_json, self.kept))
        assert error is None
        assert made.document.to_bytes() == self.history.document.to_bytes()
        if self.history.saved is self.history.states[0]:
            assert [state.to_bytes() for state in made.states] == [
                state.to_bytes() for state in self.history.states
            ]
            assert made.position == self.history.position
            assert made.entries == self.history.entries
        while made.can_undo:
            made.undo()
        assert made.document.to_bytes() == text


TestJournal = JournalMachine.TestCase
TestJournal.settings = settings(max_examples=examples(25), stateful_step_count=12)


def test_what_cannot_be_done_ends_the_replay() -> None:
    operations = [
        Operation.from_json({"op": "do", "edit": "SetReference", "key": "new", "value": "x"}),
        Operation.from_json({"op": "do", "edit": "RemoveReference", "key": "none"}),
        Operation.from_json({"op": "undo"}),
    ]
    made, error = replayed(ReferenceDocument.of(DATA), operations)
    assert error is not None
    assert made.entries == ["Change new"]
    assert made.document.refs.find("new") is not None


def test_an_edit_of_other_keys_than_texts_is_not_read() -> None:
    said = {"edit": "ReplaceUrlPrefix", "old": "s3://b", "new": "s3://c"}
    assert edit_from_json({**said, "keys": ["a/0", "a/1"]}) == ReplaceUrlPrefix(
        "s3://b", "s3://c", ("a/0", "a/1")
    )
    for keys in (["a/0", 3], [3], "a/0", {"a/0": 1}):
        with pytest.raises(RefbrowserError):
            edit_from_json({**said, "keys": keys})
