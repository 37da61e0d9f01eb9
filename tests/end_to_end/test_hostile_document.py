"""Opening a document touches nothing but the document: watched by audit hooks of the interpreter.

The document does all it can to be run, imported or followed. What a process may do while it is opened,
checked, described and expanded is listed here; everything else fails the test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

#: Words that stand in the document and nowhere else: a module, a function, a codec, a host.
MARK = "zqxjkv"

WATCH = """
import builtins, json, os, sys

document, mark = sys.argv[1:3]
log = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
watching = False

def text_of(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

def hook(event, arguments):
    if not watching:
        return
    if event == "compile":
        source, name = arguments
        if source is None:
            return
        told = [event, text_of(source), str(name)]
    elif event == "exec":
        told = [event, arguments[0].co_filename, arguments[0].co_name]
    elif event == "open":
        told = [event, text_of(arguments[0]), str(arguments[1]), arguments[2]]
    elif event == "import":
        told = [event, text_of(arguments[0])]
    elif event.startswith(("socket.", "subprocess.", "os.", "pickle.", "urllib.", "http.", "ftplib.",
                           "ctypes.dlopen", "shutil.", "tempfile.")):
        told = [event, *(text_of(argument)[:300] for argument in arguments)]
    else:
        return
    # One write for each line: threads come here at the same time.
    os.write(log, json.dumps(told).encode() + b"\\n")

sys.addaudithook(hook)
"""

WORK = """
import refbrowser
from refbrowser.cli import main
from refbrowser.references.rules.rule_faults import find_faults
import contextlib, io
out = io.StringIO()
watching = True
with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
    for arguments in (["check", document], ["check", "--json", document], ["info", document],
                      ["info", "--json", document], ["expand", "--json", "--count", "50", document],
                      ["expand", "--skip-bad", document]):
        main(arguments)
    with refbrowser.open(document) as dataset:
        faults = [finding.message for finding in dataset.document.findings]
        for rule in dataset.document.rules:
            faults += [finding.message for finding in find_faults(rule)]
        for path in list(dataset.arrays):
            repr(dataset.arrays[path])
            try:
                dataset.arrays[path][...]
            except refbrowser.RefbrowserError:
                pass
watching = False
print(json.dumps(out.getvalue()[-2000:]))
"""

WINDOW = """
import time
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtWidgets import QApplication
application = QApplication([])
from refbrowser.app.shell.main_window import MainWindow
window = MainWindow()
window.show()
window.complete()
watching = True
opened = window.open_path(document)
def settle():
    for _ in range(12):
        application.processEvents()
        time.sleep(0.005)
while not opened.is_open and opened.error is None:
    application.processEvents()
settle()
for number in range(len(opened.document.rules)):
    window.editors.show_rule(opened, number)
    settle()
window.editors.show_templates(opened)
settle()
for row in range(0, min(40, window.centre.references.table.model().row_count())):
    window.centre.references.table.set_current(row)
    settle() if row % 10 == 0 else application.processEvents()
for path in list(opened.dataset.arrays):
    window.hierarchy.select_node(opened, path)
    settle()
watching = False
window.documents.close(opened)
os._exit(0)
"""


#: No address, no process, nothing unpickled.
FORBIDDEN = (
    *("socket.connect", "socket.getaddrinfo", "socket.gethostby", "socket.send", "socket.bind"),
    *("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pickle."),
    *("urllib.", "http.", "ftplib."),
)


def hostile(folder: Path) -> Path:
    """Write a document that tries every way out that a reference document has."""
    run = f"__import__('os').system('touch {MARK}_ran')"
    array = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "fill_value": 0, "order": "C"}
    codecs: list[Any] = [
        {"id": "pickle"},
        {"id": f"{MARK}_codec"},
        {"id": "python", "code": run},
        {"id": f"os.{MARK}"},
    ]
    refs: dict[str, Any] = {
        ".zgroup": '{"zarr_format": 2}',
        "a/0": ["http://169.254.169.254/latest/meta-data/" + MARK, 0, 16],
        "b/0": [f"file:///etc/passwd#{MARK}", 0, 16],
        "c/0": [f"/dev/{MARK}", 0, 16],
        "d/0": [f"simplecache::https://{MARK}.example/x", 0, 16],
        "e/0": [f"{MARK}://host/x", 0, 16],
        "f/0": [f"../../{MARK}", 0, 16],
        "g/0": [f"http://127.0.0.1:9/{MARK}", 0, 16],
        "elsewhere/.zarray": [f"https://{MARK}.example/zarray"],
        "elsewhere/.zattrs": [f"/proc/self/environ#{MARK}"],
        "objects/.zarray": json.dumps({**array, "dtype": "|O", "compressor": None, "filters": [codecs[0]]}),
        "objects/0": "base64:gASVHQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAJpZJSFlFKULg==",
        "v3/zarr.json": json.dumps(
            {
                "zarr_format": 3,
                "node_type": "array",
                "shape": [4],
                "data_type": {"name": f"{MARK}.dtype", "configuration": {}},
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
                "chunk_key_encoding": {"name": f"{MARK}.encoding"},
                "fill_value": 0,
                "codecs": [{"name": f"{MARK}.codec", "configuration": {"module": MARK}}],
            }
        ),
        f"{MARK}/../../etc/passwd": "x",
        "{{ refs }}": "{{ " + run + " }}",
    }
    for name in "abcdefg":
        refs[f"{name}/.zarray"] = json.dumps({**array, "compressor": None, "filters": None})
    for number, codec in enumerate(codecs):
        refs[f"codec{number}/.zarray"] = json.dumps({**array, "compressor": codec, "filters": None})
        refs[f"codec{number}/0"] = "base64:AAAAAAAAAAAAAAAAAAAAAA=="
    expressions = [
        run,
        f"''.__class__.__mro__[1].__subclasses__() | {MARK}",
        f"cycler.__init__.__globals__.os.popen('{MARK}')",
        f"lipsum.__globals__['os'].system('{MARK}')",
        "('%s' * 10**9) % 1",
        f"self.__init__.__globals__.{MARK}",
        f"namespace(x='{MARK}')",
        f"'{{0.__class__.{MARK}}}'.format(i)",
        f"i|attr('__class__')|{MARK}",
        f"range(10**12)|list|{MARK}",
    ]
    statements = [
        f"{{% import '{MARK}' as x %}}",
        f"{{% include '/etc/{MARK}' %}}",
        f"{{% for x in range(10**9) %}}{MARK}{{% endfor %}}",
        f"{{% set x = '{MARK}' %}}",
        f"{{% macro x() %}}{MARK}{{% endmacro %}}",
    ]
    texts = ["{{ " + expression + " }}" for expression in expressions] + statements
    rules = [
        {
            "key": f"gen{number}/{{{{i}}}}",
            "url": text,
            "offset": "{{i * 16}}",
            "length": text,
            "dimensions": {"i": {"stop": 3}},
        }
        for number, text in enumerate(texts)
    ]
    rules.append(
        {
            "key": "meta/.zarray{{i}}",
            "url": f"http://{MARK}.example/{{{{i}}}}",
            "dimensions": {"i": [f"__import__('{MARK}')", 1, {"__class__": MARK}]},
        }
    )
    templates = {f"t{number}": text for number, text in enumerate(texts)}
    templates |= {"__builtins__": run, "__import__": "{{ os }}", f"{MARK}": "{{ " + MARK + "() }}"}
    path = folder / "hostile.json"
    path.write_text(
        json.dumps(
            {
                "version": 1,
                "templates": templates,
                "gen": rules,
                "refs": refs,
                "__reduce__": run,
                "import": MARK,
            }
        )
    )
    return path


def events(work: str, folder: Path) -> tuple[Path, list[list[Any]]]:
    """Return what a process did with the hostile document, as its audit hook saw it."""
    document, log = hostile(folder), folder / "events.log"
    home = folder / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", WATCH + work, str(document), MARK, str(log)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return document, [json.loads(line) for line in log.read_text().splitlines()]


#: Stands in the path of Python for a package that is edited in its place: entry points are looked for there.
_INSTALLED = "__editable__."


def check_events(document: Path, found: list[list[Any]]) -> None:
    opened = [event for event in found if event[0] == "open"]
    assert any(event[1] == str(document) for event in opened), "the hook saw nothing"
    # Files: the document, and what Python and the libraries are made of.
    libraries = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[2] / "refbrowser"))
    for _, name, _mode, _flags in opened:
        allowed = name == str(document) or name.startswith((*libraries, _INSTALLED)) or name.isdecimal()
        assert allowed or str(document.parent / "home") in name or _is_of_the_system(name), name
    for event in found:
        assert MARK not in json.dumps(event[1:]), event
    assert not [event for event in found if event[0].startswith(FORBIDDEN)]
    # Code is made of the files of modules, of dataclasses and the like; never of what a document says.
    made = [event for event in found if event[0] == "compile" and not event[2].startswith(libraries)]
    assert not [event for event in made if "{{" in event[1] or "{%" in event[1]]


def _is_of_the_system(name: str) -> bool:
    """Tell what the libraries ask of the machine: its memory, processors, fonts, time zones."""
    folders = (
        "/proc/meminfo",
        "/proc/cpuinfo",
        "/proc/self/",
        "/sys/",
        "/etc/localtime",
        "/usr/",
        "/dev/null",
    )
    return name.startswith(folders) and not name.startswith("/proc/self/environ")


@pytest.mark.slow
@pytest.mark.parametrize("work", [WORK, WINDOW], ids=["command line", "window"])
def test_opening_touches_nothing_but_the_document(work: str, tmp_path: Path) -> None:
    document, found = events(work, tmp_path)
    check_events(document, found)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events.log", "home", "hostile.json"]


@pytest.mark.parametrize(
    "deed",
    [
        "socket.create_connection(('127.0.0.1', 9))",
        "__import__('zqxjkv')",
        "open('/etc/hosts').read()",
        "pickle.loads(b'cos\\nsystem\\n.')",
        "eval('1 + len(\\'{{ x }}\\')')",
        "os.system('true')",
    ],
)
def test_the_watch_sees_what_it_looks_for(deed: str, tmp_path: Path) -> None:
    work = f"""
import contextlib, pickle, socket
watching = True
open(document).read()
with contextlib.suppress(Exception):
    {deed}
watching = False
"""
    with pytest.raises(AssertionError):
        check_events(*events(work, tmp_path))
