from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from awkward0_built import array_of
from awkward0_encoder import Encoder, function, pickled

import refbrowser.wings.awkward0 as package
from refbrowser.errors import RefbrowserError
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.building import TABLE
from refbrowser.wings.awkward0.layouts.functions import AllowList, Standing, canonical_name, judge
from refbrowser.wings.awkward0.layouts.text_codecs import codec_name
from refbrowser.wings.awkward0.reading.safety import report


@pytest.mark.parametrize(
    ("specification", "name"),
    [
        (["numpy", "frombuffer"], "frombuffer"),
        (["awkward.util", "frombuffer"], "frombuffer"),
        (["awkward0.util", "frombuffer"], "frombuffer"),
        (["awkward", "numpy", "frombuffer"], "frombuffer"),
        (["awkward0", "numpy", "frombuffer"], "frombuffer"),
        (["awkward", "JaggedArray", "fromcounts"], "JaggedArray.fromcounts"),
        (["awkward0", "Table", "frompairs"], "Table.frompairs"),
        (["awkward0.array.jagged", "JaggedArray", "fromcounts"], "JaggedArray.fromcounts"),
        (["awkward.array.table", "Table"], "Table"),
        (
            ["uproot_methods.classes.TVector2", "TVector2Array", "from_cartesian"],
            "TVector2Array.from_cartesian",
        ),
        (
            ["uproot3_methods.classes.TLorentzVector", "TLorentzVectorArray", "from_ptetaphim"],
            "TLorentzVectorArray.from_ptetaphim",
        ),
        (["zlib", "decompress"], "zlib.decompress"),
        (["backports.lzma", "decompress"], "lzma.decompress"),
        (["lz4.block", "decompress"], "lz4.block.decompress"),
        (["awkward.persist", "json2type"], "json2type"),
        (["awkward0.util", "numpy", "frombuffer"], None),
        (["awkward0.array", "JaggedArray"], None),
        (["awkward0.array.jagged.x", "JaggedArray"], None),
        (["awkward1", "JaggedArray"], None),
        (["awkward0", "JaggedArray", "fromcounts", "x"], None),
        (["awkward0", "JaggedArray", "from_cartesian"], None),
        (["zlib", "compress"], None),
        (["zlib", "decompress", "x"], None),
        (["", ""], None),
    ],
)
def test_spellings(specification: list[str], name: str | None) -> None:
    assert canonical_name(specification) == name
    assert name is None or name in TABLE


def test_every_entry_of_the_table_has_a_name() -> None:
    spelled = {"frombuffer": ["numpy", "frombuffer"]}
    for name in TABLE:
        module = "awkward0"
        if name.startswith("T") and name.endswith(("cartesian", "ptetaphim")):
            module = "uproot3_methods.classes.X"
        parts = spelled.get(name, [module, *name.split(".")])
        if name[0].islower() and name not in spelled:
            head, _, tail = name.rpartition(".")
            parts = [head or "awkward0.persist", tail]
        assert canonical_name(parts) == name, name


def test_verdicts() -> None:
    nothing = AllowList()
    assert judge(["zlib", "decompress"], nothing).standing is Standing.ALLOWED
    bz2 = judge(["bz2", "decompress"], nothing)
    assert (bz2.standing, bz2.can_be_allowed) == (Standing.REFUSED, True)
    assert judge(["bz2", "decompress"], AllowList.of("bz2")).standing is Standing.OPENED
    system = judge(["os", "system"], AllowList.of("*"))
    assert (system.standing, system.can_be_allowed, system.name) == (Standing.REFUSED, False, "os.system")
    assert system.why


@pytest.mark.parametrize(
    ("patterns", "fits"),
    [
        ("*", True),
        ("bz2", True),
        ("bz*", True),
        (["bz2", "decompress"], True),
        (["bz2", "de*"], True),
        (["*", "compress"], False),
        ([["x", "y"], ["bz2"]], True),
        (["bz2", "decompress", "x"], False),
        ([["bz2", "*", "*"]], False),
        ("bz2.decompress", True),
        ("BZ2", False),
        ([["os"], ["zstd", "*"]], False),
    ],
)
def test_patterns_of_the_text(patterns: Any, fits: bool) -> None:
    assert AllowList.of(patterns).allows(["bz2", "decompress"]) is fits


@pytest.mark.parametrize("value", [3, None, [3], [["a"], 3], [["a"], [["b"], ["c"]]]])
def test_what_is_no_list_of_functions(value: Any) -> None:
    with pytest.raises(RefbrowserError) as caught:
        AllowList.of(value)
    assert str(caught.value.kind) == "E_USAGE"


def test_texts_of_a_command_line() -> None:
    allowed = AllowList.of_texts(["bz2.decompress", "zstd*"])
    assert allowed.allows(["bz2", "decompress"])
    assert allowed.allows(["zstd", "uncompress"])
    assert not allowed.allows(["bz2", "compress"])
    assert not AllowList.of_texts([]).allows(["bz2", "decompress"])


@pytest.mark.parametrize(
    "name", ["zip", "hex", "rot13", "idna", "unicode_escape", "x" * 100, "os", "utf_8\0", ""]
)
def test_encodings_that_are_no_text(name: str) -> None:
    with pytest.raises(RefbrowserError):
        codec_name(name)


@pytest.mark.parametrize(
    "name", ["UTF8", "utf-8", "Latin-1", "utf-32le", "cp1252", "euc_jp", "ASCII", "utf 16 be"]
)
def test_encodings_that_are_known(name: str) -> None:
    assert "aé".encode().decode(codec_name(name), "replace")


def test_no_name_of_a_file_can_be_looked_up() -> None:
    banned = {"import_module", "__import__", "eval", "exec", "compile", "getattr", "pickle", "importlib"}
    folders = (Path(package.__path__[0], name) for name in ("files", "layouts", "reading"))
    for path in (path for folder in folders for path in folder.glob("*.py")):
        names = {
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Name | ast.Attribute)
        }
        calls = names & (banned - {"compile"})
        assert not calls, (path.name, calls)


# -- the safety report


class Command:
    def __reduce__(self) -> Any:
        return __import__("os").system, ("true",)


def test_the_report_of_an_honest_file() -> None:
    encoder = Encoder()
    default = pickled(float("nan"))
    root = encoder.make("SparseArray", 9, encoder.basic([0]), encoder.basic([1.0]), default)
    found = report([array_of(root, encoder)])
    assert [(use.verdict.canonical, use.count) for use in found.functions] == [
        ("SparseArray", 1),
        ("frombuffer", 2),
    ]
    assert [use.error for use in found.pickles] == [None]
    assert (found.targets, found.refused, found.left_out) == ((), 0, 0)


def test_the_report_of_a_hostile_file() -> None:
    encoder = Encoder()
    virtual = encoder.make(
        "VirtualArray",
        function("uproot.tree", "_LazyBranch"),
        {"tuple": [{"json": "http://host/x.root"}, {"list": [{"json": {"k": ["branch"]}}]}]},
        persistentkey={"json": "key"},
    )
    parquet = encoder.call(["awkward0.arrow", "_ParquetFile", "fromjson"], {"json": {"file": "/etc/passwd"}})
    again = encoder.call(["awkward0.arrow", "_ParquetFile", "fromjson"], {"json": {"file": "/etc/passwd"}})
    root = encoder.table(a=virtual, b=parquet, c=again, d=pickled(Command()))
    found = report([array_of(root, encoder)])
    refused = {
        use.verdict.name: use.count for use in found.functions if use.verdict.standing is Standing.REFUSED
    }
    assert refused == {"uproot.tree._LazyBranch": 1, "awkward0.arrow._ParquetFile.fromjson": 2}
    assert [use.names for use in found.pickles] == [("posix.system",)]
    assert {use.text: (use.function, use.count) for use in found.targets} == {
        "http://host/x.root": ("uproot.tree._LazyBranch", 1),
        "branch": ("uproot.tree._LazyBranch", 1),
        "/etc/passwd": ("awkward0.arrow._ParquetFile.fromjson", 2),
    }
    assert found.refused == 3
    assert {use.spot.array for use in found.targets} == {"/one"}
    assert found.pickles[0].spot.pointer == "/schema/args/0/pairs/3/1"


def test_what_the_user_opened_is_told() -> None:
    encoder = Encoder()
    root = encoder.basic([1.0], codecs=["bz2.decompress"])
    array = array_of(root, encoder)
    assert report([array]).refused == 1
    opened = report([array], AllowList.of("bz2"))
    assert [use.verdict.standing for use in opened.functions] == [Standing.ALLOWED, Standing.OPENED]


def test_reports_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AWKWARD_LIMITS.__dict__, "awkward_findings", 5)
    calls = [{"call": ["m", f"f{at}"], "args": [{"json": f"/file{at}"}]} for at in range(9)]
    found = report([array_of({"list": [*calls, *[{"python": "x"}] * 9]})])
    assert (len(found.functions), len(found.targets), len(found.pickles), found.left_out) == (5, 5, 5, 12)


def test_reports_can_be_given_up() -> None:
    def check() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        report([array_of({"json": 1})], None, check)
