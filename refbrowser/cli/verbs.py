"""The verbs of the command line: what each does, with examples that run on the bundled sample."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: what it does, and commands that show it."""

    words: str
    examples: tuple[str, ...]

    def __str__(self) -> str:
        return self.words


#: Headings of the help, each with its verbs; the module of a verb's name holds its arguments and runs it.
GROUPS: dict[str, dict[str, Verb]] = {
    "look at a dataset": {
        "info": Verb(
            "show the hierarchy: groups, dimensions, arrays, problems", ("refbrowser info sea_surface.json",)
        ),
        "cdl": Verb("write a dataset as CDL, as ncdump -h does", ("refbrowser cdl sea_surface.json",)),
        "plan": Verb(
            "show which byte ranges a selection needs",
            (
                "refbrowser plan sea_surface.json /ocean/sst --select 0",
                "refbrowser plan sea_surface.json /ocean/sst --cost",
            ),
        ),
        "explain": Verb(
            "explain why an element or a key shows as it does",
            (
                "refbrowser explain sea_surface.json ocean/sst/0.0.0",
                "refbrowser explain sea_surface.json --array /ocean/sst --index 0,10,20",
            ),
        ),
        "diff": Verb(
            "compare two datasets of any format",
            ("refbrowser diff sea_surface.json sea_surface.json --values sample",),
        ),
    },
    "read values and bytes": {
        "read": Verb(
            "read values of an array",
            (
                "refbrowser read sea_surface.json /ocean/sst --select time=2024-03,lat=40:60 -o march.nc",
                "refbrowser read sea_surface.json /ocean/lat --json",
            ),
        ),
        "cat": Verb(
            "write the stored bytes of one key", ("refbrowser cat sea_surface.json ocean/sst/.zarray",)
        ),
        "expand": Verb(
            "show the Version 0 rows of a document, or write it out as one object",
            ("refbrowser expand sea_surface.json --count 5",),
        ),
    },
    "check files and references": {
        "check": Verb("list all faults and warnings of documents", ("refbrowser check sea_surface.json",)),
        "audit": Verb(
            "look at what references lead to: files, ranges, values",
            (
                "refbrowser audit sea_surface.json --level sample",
                "refbrowser audit sea_surface.json --fix",
            ),
        ),
        "lock": Verb(
            "record the state of a document's files, to notice when one is replaced",
            ("refbrowser lock sea_surface.json",),
        ),
    },
    "make and change references": {
        "make": Verb(
            "make references of files of data, a document for each or one of all",
            (
                "refbrowser read sea_surface.json /ocean/sst -o sst.nc",
                "refbrowser make sst.nc -o sst.json",
            ),
        ),
        "append": Verb(
            "add files to a reference document, or values to a stream of messages",
            (
                "refbrowser export sea_surface.json sea.ncs --to ncstream --array /ocean/lat",
                "refbrowser append sea.ncs sea.ncs --overwrite --array /ocean/lat",
            ),
        ),
        "fold": Verb(
            "fold single references into templates and gen rules",
            (
                "refbrowser export sea_surface.json rows.json --to refs-v0",
                "refbrowser fold rows.json -o folded.json",
            ),
        ),
        "move": Verb(
            "show the places of the files of a document, or write it with other URLs",
            (
                "refbrowser move sea_surface.json",
                "refbrowser move sea_surface.json data/ s3://bucket/data/ -o moved.json",
            ),
        ),
        "merge": Verb(
            "merge what two sides changed of one reference document",
            ("refbrowser merge sea_surface.json sea_surface.json sea_surface.json -o merged.json",),
        ),
    },
    "write other formats": {
        "export": Verb(
            "write a dataset in another format",
            (
                "refbrowser export sea_surface.json sea.zarr --to zarr-v3",
                "refbrowser export sea_surface.json sst.nc --to netcdf4 --array /ocean/sst --select 0:3",
                "refbrowser export --to zarr-v3 --help",
            ),
        ),
        "compact": Verb(
            "rewrite a stream of messages without what was overwritten",
            (
                "refbrowser export sea_surface.json sea.ncs --to ncstream",
                "refbrowser compact sea.ncs -o small.ncs",
            ),
        ),
        "repair": Verb(
            "write what is sound of a damaged stream of messages",
            (
                "refbrowser export sea_surface.json sea.ncs --to ncstream",
                "refbrowser repair sea.ncs -o sound.ncs",
            ),
        ),
        "serve": Verb(
            "serve a dataset as CDM Remote, on this machine",
            ("refbrowser serve sea_surface.json --port 8080",),
        ),
    },
    "the program itself": {
        "sample": Verb(
            "write the bundled sample, to try everything on",
            ("refbrowser sample trial", "refbrowser info trial/sea_surface.json"),
        ),
        "config": Verb(
            "show or change settings of the command line: trusted origins and others",
            (
                "refbrowser config set allow https://data.example.org",
                "refbrowser config show",
            ),
        ),
        "limits": Verb("print the limits in force", ("refbrowser limits",)),
    },
}

#: All verbs by name.
VERBS: dict[str, Verb] = {name: verb for verbs in GROUPS.values() for name, verb in verbs.items()}

#: What users of other programs type, and the verb that does it here.
OTHER_WORDS = {
    "combine": "make",
    "concat": "make",
    "convert": "export",
    "copy": "export",
    "dump": "cdl",
    "get": "read",
    "header": "cdl",
    "init": "sample",
    "ls": "info",
    "settings": "config",
    "show": "info",
    "translate": "export",
    "tree": "info",
    "validate": "check",
    "verify": "audit",
}

#: Options that have another name now, by verb; the old ones go on working, with a note.
OLD_NAMES: dict[str, dict[str, str]] = {
    "append": {"--along": "--concat"},
    "audit": {"--lock": "--compare-lock"},
    "export": {"--compression": "--codec"},
    "lock": {"--accept": "--update"},
}

#: Short forms of options that have a value, by verb.
SHORT_FORMS: dict[str, dict[str, str]] = {"export": {"--zip": "--container=zip"}}


def suggestion(word: str) -> str:
    """Return the verb that somebody meant; empty where it cannot be guessed."""
    from difflib import get_close_matches

    if word.lower() in OTHER_WORDS:
        return OTHER_WORDS[word.lower()]
    return next(iter(get_close_matches(word.lower(), VERBS, n=1)), "")
