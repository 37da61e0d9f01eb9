"""One table of kinds of findings: each row is a named value, which everything that finds refers to."""

from __future__ import annotations

from source import Source

from refbrowser.engine.audit.reader_notes import note_codes
from refbrowser.findings.kinds import KINDS, OF_ERRORS
from refbrowser.wings.dmrpp.checking.description_kinds import KINDS as DESCRIPTION_KINDS

ALL = KINDS | DESCRIPTION_KINDS
#: Where codes are written, once each.
TABLES = {
    "refbrowser.findings.kinds": set(KINDS),
    "refbrowser.wings.dmrpp.checking.description_kinds": set(DESCRIPTION_KINDS),
}


def test_codes_are_written_in_their_table_alone(sources: list[Source]) -> None:
    # Codes of one word, such as "template", are words of other things, too.
    codes = {code for code in (*ALL, *note_codes()) if "-" in code} | {"undecodable"}
    written = {source.module: found for source in sources if (found := source.texts & codes)}
    assert {module: found for module, found in written.items() if module not in TABLES} == {}
    assert {module: found - TABLES[module] for module, found in written.items()} == {
        module: set() for module in TABLES
    }


def test_each_kind_says_what_it_is() -> None:
    for code, kind in ALL.items():
        assert kind.code == code
        assert kind.title, code
        assert kind.meaning, code
        assert kind.level in ("set", "stat", "sample"), code
        assert kind.advice == "" or kind.advice.endswith("."), "advice is sentences"


def test_what_an_error_says_by_itself_is_as_bad_as_its_kind() -> None:
    assert all(kind.error is error for error, kind in OF_ERRORS.items())
