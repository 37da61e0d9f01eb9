"""The undo law: whatever is edited, undoing all of it gives the bytes back; a dict is the model of refs."""

from __future__ import annotations

import json
from typing import Any

from deep import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History
from refbrowser.references.edits.edits import (
    AddTemplate,
    Compound,
    InsertRule,
    MoveRule,
    RemoveReference,
    RemoveRule,
    RemoveTemplate,
    RenameReference,
    RenameTemplate,
    ReplaceUrlPrefix,
    SetReference,
    SetRule,
    SetTemplate,
)

KEYS = st.sampled_from(["a/0", "a/1", "a/0.1", "b/c/0/1", "a/.zarray", ".zattrs", "x", "é/0", "a/00", "0"])
VALUES = st.one_of(
    st.sampled_from(["text", "base64:QUJD", "é", ""]),
    st.tuples(st.sampled_from(["u", "s3://b/x", "s3://b/y", "{{t}}"])).map(list),
    st.tuples(
        st.sampled_from(["s3://b/x", "s3://b/y", "{{t}}/z"]), st.integers(0, 10**20), st.integers(0, 99)
    ).map(list),
)
NAMES = st.sampled_from(["t", "u", "v"])
RULES = st.builds(
    lambda stop, url, extra: {
        "key": "g/{{i}}",
        "url": url,
        "offset": "{{i * 10}}",
        "length": "10",
        "dimensions": {"i": {"stop": stop}},
        **extra,
    },
    st.integers(1, 5),
    st.sampled_from(["s3://b/x", "{{t}}"]),
    st.sampled_from([{}, {"note": [1.0, "x"]}]),
)
STYLES = st.sampled_from([{}, {"indent": 2}, {"indent": 1}, {"separators": (",", ":")}])


class HistoryMachine(RuleBasedStateMachine):
    """Edits, undo and redo against a plain model of the whole document."""

    @initialize(
        refs=st.dictionaries(KEYS, VALUES, max_size=6),
        rules=st.lists(RULES, max_size=3),
        templates=st.dictionaries(NAMES, st.just("s3://b/t"), max_size=2),
        style=STYLES,
        ascii_only=st.booleans(),
    )
    def open(self, refs: Any, rules: Any, templates: Any, style: Any, ascii_only: bool) -> None:
        self.model: dict[str, Any] = {"version": 1, "templates": templates, "gen": rules, "refs": refs}
        self.data = json.dumps(self.model, ensure_ascii=ascii_only, **style).encode()
        self.history = History(ReferenceDocument.of(self.data))
        self.models = [self.model]
        self.at = 0

    def edit(self, edit: Any, model: dict[str, Any] | None) -> None:
        """Apply an edit; `model` is what it should give, None where it should be refused."""
        before = self.history.document
        if model is None:
            try:
                self.history.apply(edit)
            except RefbrowserError:
                assert self.history.document is before
                return
            raise AssertionError(f"{edit} was not refused")
        self.history.apply(edit)
        if self.history.document is before:
            assert model == self.models[self.at]
            return
        del self.models[self.at + 1 :]
        self.models.append(model)
        self.at += 1

    @property
    def now(self) -> dict[str, Any]:
        return json.loads(json.dumps(self.models[self.at]))

    @rule(key=KEYS, value=VALUES)
    def set_reference(self, key: str, value: Any) -> None:
        model = self.now
        model["refs"][key] = value
        self.edit(SetReference(key, value), model)

    @rule(key=KEYS)
    def remove_reference(self, key: str) -> None:
        model = self.now
        self.edit(RemoveReference(key), model if model["refs"].pop(key, None) is not None else None)

    @rule(old=KEYS, new=KEYS)
    def rename_reference(self, old: str, new: str) -> None:
        model = self.now
        refs = model["refs"]
        fine = old in refs and (old == new or new not in refs)
        model["refs"] = {new if key == old else key: value for key, value in refs.items()}
        self.edit(RenameReference(old, new), model if fine else None)

    @rule(new=st.sampled_from(["http://h/", "s3://c/long/", ""]))
    def replace_prefix(self, new: str) -> None:
        model = self.now

        def changed(url: str) -> str:
            return new + url[5:] if url.startswith("s3://") else url

        for value in model["refs"].values():
            if isinstance(value, list):
                value[0] = changed(value[0])
        for fields in model["gen"]:
            fields["url"] = changed(fields["url"])
        model["templates"] = {name: changed(text) for name, text in model["templates"].items()}
        self.edit(ReplaceUrlPrefix("s3://", new), model)

    @rule(name=NAMES, text=st.sampled_from(["s3://b/t2", "{{x}}"]))
    def set_template(self, name: str, text: str) -> None:
        model = self.now
        known = name in model["templates"]
        model["templates"][name] = text
        self.edit(SetTemplate(name, text) if known else AddTemplate(name, text), model)

    @rule(name=NAMES)
    def remove_template(self, name: str) -> None:
        model = self.now
        self.edit(RemoveTemplate(name), model if model["templates"].pop(name, None) is not None else None)

    @rule(old=NAMES, new=NAMES)
    def rename_template(self, old: str, new: str) -> None:
        model = self.now
        names = model["templates"]
        fine = old in names and new not in names
        model["templates"] = {new if name == old else name: text for name, text in names.items()}
        self.edit(RenameTemplate(old, new), model if fine else None)

    @rule(index=st.integers(0, 3), fields=RULES)
    def insert_rule(self, index: int, fields: Any) -> None:
        model = self.now
        fine = index <= len(model["gen"])
        model["gen"].insert(index, fields)
        self.edit(InsertRule(index, fields), model if fine else None)

    @rule(index=st.integers(0, 3), fields=RULES)
    def set_rule(self, index: int, fields: Any) -> None:
        model = self.now
        fine = index < len(model["gen"])
        if fine:
            model["gen"][index] = fields
        self.edit(SetRule(index, fields), model if fine else None)

    @rule(index=st.integers(0, 3))
    def remove_rule(self, index: int) -> None:
        model = self.now
        fine = index < len(model["gen"])
        if fine:
            del model["gen"][index]
        self.edit(RemoveRule(index), model if fine else None)

    @rule(index=st.integers(0, 3), to=st.integers(0, 3))
    def move_rule(self, index: int, to: int) -> None:
        model = self.now
        fine = max(index, to) < len(model["gen"])
        if fine:
            model["gen"].insert(to, model["gen"].pop(index))
        self.edit(MoveRule(index, to), model if fine else None)

    @rule(key=KEYS, other=KEYS, value=VALUES)
    def compound(self, key: str, other: str, value: Any) -> None:
        model = self.now
        model["refs"][key] = value
        fine = other in model["refs"]
        model["refs"].pop(other, None)
        self.edit(
            Compound("two", (SetReference(key, value), RemoveReference(other))), model if fine else None
        )

    @rule()
    def undo(self) -> None:
        self.history.undo()
        self.at = max(self.at - 1, 0)

    @rule()
    def redo(self) -> None:
        self.history.redo()
        self.at = min(self.at + 1, len(self.models) - 1)

    @precondition(lambda self: self.at > 0)
    @rule()
    def save_and_open_again(self) -> None:
        """The saved text is what a fresh document reads, and its entries are the same."""
        document = self.history.document
        again = ReferenceDocument.of(document.to_bytes())
        assert again.refs.keys(0, len(again.refs)) == document.refs.keys(0, len(document.refs))
        texts = [again.refs.value_text(again.refs.slot(at)) for at in range(len(again.refs))]
        assert texts == [document.refs.value_text(document.refs.slot(at)) for at in range(len(texts))]

    @invariant()
    def text_says_what_the_model_says(self) -> None:
        if not hasattr(self, "history"):
            return
        text = json.loads(self.history.document.to_bytes())
        model = self.models[self.at]
        assert (self.history.can_undo, self.history.can_redo) == (self.at > 0, self.at < len(self.models) - 1)
        assert text == model
        assert list(text["refs"]) == list(model["refs"])
        assert list(text["templates"]) == list(model["templates"])

    @invariant()
    def lookups_agree(self) -> None:
        if not hasattr(self, "history"):
            return
        refs = self.history.document.refs
        keys = list(self.models[self.at]["refs"])
        assert refs.keys(0, len(refs)) == keys
        assert [refs.find(key) for key in keys] == list(range(len(keys)))
        assert refs.find("not/there") is None

    def teardown(self) -> None:
        if not hasattr(self, "history"):
            return
        while self.history.can_undo:
            self.history.undo()
        assert self.history.document.to_bytes() == self.data


TestHistory = HistoryMachine.TestCase
TestHistory.settings = settings(max_examples=examples(60), stateful_step_count=20, deadline=None)
