"""The tools: one table of what a user can have done.

Tools of other packages come by the entry points of the group `GROUP`, each of which leads to a `Tool`; they
are trusted as the packages are that the user installed.
"""

from __future__ import annotations

from functools import cache

from refbrowser.plugins import Plugins, plugins
from refbrowser.tools.tool import Dock, Heading, Tool

#: The group of entry points by which other packages add tools.
GROUP = "refbrowser.tools"

#: Those of this package, in the order of the help.
BUILT_IN = (
    Tool(
        name="info",
        heading=Heading.LOOK,
        words="show the hierarchy: groups, dimensions, arrays, problems",
        examples=("refbrowser info sea_surface.json",),
        verb="refbrowser.tools.info.verb",
        page="refbrowser.tools.info.info_page:page_of",
        public="refbrowser.tools.info.public:info",
        synonyms=("ls", "show", "tree"),
    ),
    Tool(
        name="cdl",
        heading=Heading.LOOK,
        words="write a dataset as CDL, as ncdump -h does",
        examples=("refbrowser cdl sea_surface.json",),
        verb="refbrowser.tools.cdl.verb",
        synonyms=("dump", "header"),
    ),
    Tool(
        name="plan",
        heading=Heading.LOOK,
        words="show which byte ranges a selection needs",
        examples=(
            "refbrowser plan sea_surface.json /ocean/sst --select 0",
            "refbrowser plan sea_surface.json /ocean/sst --cost",
        ),
        verb="refbrowser.tools.bytes.verb",
        public="refbrowser.tools.bytes.public:plan",
        request="refbrowser.tools.bytes.request:PlanRequest",
        commands="refbrowser.tools.bytes.window.commands:ByteCommands",
        docks=(
            Dock(
                name="byteMap",
                title="Byte map",
                after="chunkMap",
                hint="The bytes of the files that are referred to appear here.",
            ),
            Dock(
                name="cost",
                title="Cost",
                after="byteMap",
                hint="What it costs to read the plotted array appears here.",
            ),
        ),
    ),
    Tool(
        name="explain",
        heading=Heading.LOOK,
        words="explain why an element or a key shows as it does",
        examples=(
            "refbrowser explain sea_surface.json ocean/sst/0.0.0",
            "refbrowser explain sea_surface.json --array /ocean/sst --index 0,10,20",
        ),
        verb="refbrowser.tools.explain.verb",
        page="refbrowser.tools.explain.report.explanation_page:page_of",
        public="refbrowser.tools.explain.public:explain",
        request="refbrowser.tools.explain.report.explain:Question",
        commands="refbrowser.tools.explain.window.commands:ExplainCommands",
        docks=(
            Dock(
                title="Explain",
                after="attributes",
                hint="Click an element of the plot, or press E there. On a cell, a key, a chunk or a "
                "problem, press Ctrl+I. The explanation appears here.",
            ),
        ),
    ),
    Tool(
        name="diff",
        heading=Heading.LOOK,
        words="compare two datasets of any format",
        examples=("refbrowser diff sea_surface.json sea_surface.json --values sample",),
        verb="refbrowser.tools.compare.verb",
        request="refbrowser.engine.comparing.comparison:CompareRequest",
        commands="refbrowser.tools.compare.window.commands:CompareCommands",
        page="refbrowser.tools.compare.comparison_html:page_of",
        cases="refbrowser.tools.compare.comparison_cases:suites_of",
        public="refbrowser.tools.compare.public:diff",
    ),
    Tool(
        name="history",
        heading=Heading.LOOK,
        words="show the snapshots of an Icechunk repository as a graph",
        examples=(
            "refbrowser export sea_surface.json sea.icechunk --to icechunk",
            "refbrowser history sea.icechunk",
            "refbrowser history sea.icechunk --operations --unused",
        ),
        request="refbrowser.wings.icechunk.history.request:HistoryRequest",
        run="refbrowser.wings.icechunk.history.history:history",
        synonyms=("log", "snapshots"),
    ),
    Tool(
        name="manifests",
        heading=Heading.LOOK,
        words="show the manifests of an Icechunk repository, and what they cost",
        examples=(
            "refbrowser export sea_surface.json sea.icechunk --to icechunk",
            "refbrowser manifests sea.icechunk --split-size time=12",
        ),
        request="refbrowser.wings.icechunk.manifests.request:ManifestsRequest",
        run="refbrowser.wings.icechunk.manifests.manifests:manifests",
    ),
    Tool(
        name="read",
        heading=Heading.READ,
        words="read values of an array",
        examples=(
            "refbrowser read sea_surface.json /ocean/sst --select time=2024-03,lat=40:60 -o march.nc",
            "refbrowser read sea_surface.json /ocean/lat --json",
        ),
        verb="refbrowser.tools.read.verb",
        commands="refbrowser.tools.read.window.commands:ComputeCommands",
        synonyms=("get",),
    ),
    Tool(
        name="statistics",
        heading=Heading.READ,
        words="tell mean, spread, extremes and quantiles of a region, weighted by area",
        examples=(
            "refbrowser statistics sea_surface.json /ocean/sst --region 'lat 30..60, lon 300..350'",
            "refbrowser statistics sea_surface.json /ocean/sst --select 0,:,: --along lat",
        ),
        verb="refbrowser.tools.statistics.verb",
        public="refbrowser.tools.statistics.public:statistics",
        synonyms=("stats", "mean", "zonal"),
    ),
    Tool(
        name="figure",
        heading=Heading.READ,
        words="draw an array as a figure for a paper (PDF, SVG, PNG), or as a film",
        examples=(
            "refbrowser figure sea_surface.json::/ocean/sst -o sst.pdf --size 85mm",
            "refbrowser figure sea_surface.json /ocean/sst --along time -o frames --size 640x400",
        ),
        verb="refbrowser.tools.figure.verb",
        request="refbrowser.tools.figure.request:FigureRequest",
        commands="refbrowser.tools.figure.window.commands:FigureCommands",
        public="refbrowser.tools.figure.public:figure",
        synonyms=("plot", "draw", "image", "film", "animate"),
    ),
    Tool(
        name="cat",
        heading=Heading.READ,
        words="write the stored bytes of one key",
        examples=("refbrowser cat sea_surface.json ocean/sst/.zarray",),
        verb="refbrowser.tools.cat.verb",
    ),
    Tool(
        name="expand",
        heading=Heading.READ,
        words="show the Version 0 rows of a document, or write it out as one object",
        examples=("refbrowser expand sea_surface.json --count 5",),
        verb="refbrowser.tools.expand.verb",
        public="refbrowser.tools.expand.public:expand",
    ),
    Tool(
        name="check",
        heading=Heading.CHECK,
        words="list all faults and warnings of documents",
        examples=("refbrowser check sea_surface.json",),
        verb="refbrowser.tools.check.verb",
        page="refbrowser.tools.check.check_page:page_of",
        cases="refbrowser.tools.check.check_cases:suites_of",
        public="refbrowser.tools.check.public:check",
        synonyms=("validate",),
    ),
    Tool(
        name="audit",
        heading=Heading.CHECK,
        words="look at what references lead to: files, ranges, values",
        examples=(
            "refbrowser audit sea_surface.json --level sample",
            "refbrowser audit sea_surface.json --fix",
        ),
        verb="refbrowser.tools.audit.verb",
        request="refbrowser.engine.audit.audit_plan:AuditRequest",
        commands="refbrowser.tools.audit.window.commands:AuditCommands",
        docks=(
            Dock(
                title="Audit",
                after="problems",
                hint="Findings of an audit appear here: files that are missing or cut short, chunks that are "
                "shifted.",
            ),
        ),
        page="refbrowser.tools.audit.report.audit_html:page_of",
        cases="refbrowser.tools.audit.report.audit_cases:suites_of",
        public="refbrowser.tools.audit.public:audit",
        synonyms=("verify",),
        renamed={"--lock": "--compare-lock"},
    ),
    Tool(
        name="readers",
        heading=Heading.CHECK,
        words="tell which other software can read a dataset, and what makes it readable",
        examples=(
            "refbrowser readers sea_surface.json",
            "refbrowser export sea_surface.json sea.zarr --to zarr-v3 --codec gzip",
            "refbrowser readers sea.zarr --for zarr-python=3.1 --for zarrita",
        ),
        verb="refbrowser.tools.readers.verb",
        request="refbrowser.tools.readers.request:ReadersRequest",
        commands="refbrowser.tools.readers.window.commands:ReadersCommands",
        page="refbrowser.tools.readers.report.matrix_page:page_of",
        cases="refbrowser.tools.readers.report.matrix_cases:suites_of",
        public="refbrowser.tools.readers.public:readers",
        synonyms=("compatibility", "compatible", "interoperability"),
    ),
    Tool(
        name="lock",
        heading=Heading.CHECK,
        words="record the state of a document's files, to notice when one is replaced",
        examples=("refbrowser lock sea_surface.json",),
        verb="refbrowser.tools.lock.verb",
        request="refbrowser.engine.locking:LockRequest",
        commands="refbrowser.tools.lock.window.commands:LockCommands",
        public="refbrowser.tools.lock.public:lock",
        renamed={"--accept": "--update"},
    ),
    Tool(
        name="expect",
        heading=Heading.CHECK,
        words="write down what a dataset should hold, so that audits tell what is missing",
        examples=(
            "refbrowser expect sea_surface.json",
            "refbrowser expect sea_surface.json --set 'every day from 2024 to 2024' --force",
        ),
        request="refbrowser.tools.expect.expectation_writing:ExpectRequest",
        run="refbrowser.tools.expect.expectation_writing:write_expectation",
        commands="refbrowser.tools.expect.window.commands:ExpectationCommands",
        synonyms=("expectation", "learn"),
    ),
    Tool(
        name="make",
        heading=Heading.MAKE,
        words="make references of files of data, a document for each or one of all",
        examples=(
            "refbrowser read sea_surface.json /ocean/sst -o sst.nc",
            "refbrowser make sst.nc -o sst.json",
        ),
        verb="refbrowser.tools.make.verb",
        request="refbrowser.exporting.combining.combination:Combination",
        commands="refbrowser.tools.make.window.commands:MakeCommands",
        public="refbrowser.tools.make.public:make",
        synonyms=("combine", "concat"),
    ),
    Tool(
        name="append",
        heading=Heading.MAKE,
        words="add files to a reference document or a repository, or values to a stream",
        examples=(
            "refbrowser export sea_surface.json sea.ncs --to ncstream --array /ocean/lat",
            "refbrowser append sea.ncs sea.ncs --overwrite --array /ocean/lat",
        ),
        verb="refbrowser.tools.append.verb",
        request="refbrowser.tools.append.request:Addition",
        commands="refbrowser.tools.append.window.commands:AppendCommands",
        public="refbrowser.tools.append.public:append",
        renamed={"--along": "--concat"},
    ),
    Tool(
        name="fold",
        heading=Heading.MAKE,
        words="fold single references into templates and gen rules",
        examples=(
            "refbrowser export sea_surface.json rows.json --to refs-v0",
            "refbrowser fold rows.json -o folded.json",
        ),
        verb="refbrowser.tools.fold.verb",
        request="refbrowser.exporting.saving.folded_writing:FoldRequest",
        commands="refbrowser.tools.fold.window.commands:FoldCommands",
        public="refbrowser.tools.fold.public:fold",
    ),
    Tool(
        name="move",
        heading=Heading.MAKE,
        words="show the places of the files of a document, or write it with other URLs",
        examples=(
            "refbrowser move sea_surface.json",
            "refbrowser move sea_surface.json data/ s3://bucket/data/ -o moved.json",
        ),
        verb="refbrowser.tools.move.verb",
        request="refbrowser.tools.move.request:MoveRequest",
        commands="refbrowser.tools.move.window.commands:MoveCommands",
        public="refbrowser.tools.move.public:move",
    ),
    Tool(
        name="merge",
        heading=Heading.MAKE,
        words="merge what two sides changed of one reference document",
        examples=("refbrowser merge sea_surface.json sea_surface.json sea_surface.json -o merged.json",),
        verb="refbrowser.tools.merge.verb",
        request="refbrowser.exporting.saving.merged_file:MergeRequest",
        commands="refbrowser.tools.merge.window.commands:MergeCommands",
        public="refbrowser.tools.merge.public:merge",
        renamed={"--name": "--label"},
    ),
    Tool(
        name="commit",
        heading=Heading.MAKE,
        words="commit changes to a branch of an Icechunk repository, merged with those of others",
        examples=(
            "refbrowser export sea_surface.json sea.icechunk --to icechunk --array /ocean/lat",
            "refbrowser commit sea.icechunk --set-attr /ocean/lat:units=degrees_north -m 'Mend units'",
        ),
        verb="refbrowser.wings.icechunk.verbs.commit_verb",
        request="refbrowser.wings.icechunk.changing.request:CommitRequest",
        commands="refbrowser.wings.icechunk.window.commit_commands:CommitCommands",
        public="refbrowser.wings.icechunk.changing.public:commit",
    ),
    Tool(
        name="export",
        heading=Heading.WRITE,
        words="write a dataset in another format",
        examples=(
            "refbrowser export sea_surface.json sea.zarr --to zarr-v3",
            "refbrowser export sea_surface.json sst.nc --to netcdf4 --array /ocean/sst --select 0:3",
            "refbrowser export --to zarr-v3 --help",
        ),
        verb="refbrowser.tools.export.verb",
        request="refbrowser.exporting.request:ExportRequest",
        commands="refbrowser.tools.export.window.commands:ExportCommands",
        public="refbrowser.tools.export.public:export",
        synonyms=("convert", "copy", "translate"),
        renamed={"--compression": "--codec"},
        short_forms={"--zip": "--container=zip"},
    ),
    Tool(
        name="compact",
        heading=Heading.WRITE,
        words="rewrite a stream of messages without what was overwritten",
        examples=(
            "refbrowser export sea_surface.json sea.ncs --to ncstream",
            "refbrowser compact sea.ncs -o small.ncs",
        ),
        verb="refbrowser.wings.ncstream.verbs.compact_verb",
    ),
    Tool(
        name="repair",
        heading=Heading.WRITE,
        words="write what is sound of a damaged stream of messages",
        examples=(
            "refbrowser export sea_surface.json sea.ncs --to ncstream",
            "refbrowser repair sea.ncs -o sound.ncs",
        ),
        verb="refbrowser.wings.ncstream.verbs.repair_verb",
    ),
    Tool(
        name="serve",
        heading=Heading.WRITE,
        words="serve a dataset as CDM Remote, on this machine",
        examples=("refbrowser serve sea_surface.json --port 8080",),
        verb="refbrowser.wings.ncstream.verbs.serve_verb",
        request="refbrowser.wings.ncstream.serving.request:ServeRequest",
        commands="refbrowser.wings.ncstream.window.service_commands:ServiceCommands",
    ),
    Tool(
        name="sample",
        heading=Heading.PROGRAM,
        words="write the bundled sample, to try everything on",
        examples=("refbrowser sample trial", "refbrowser info trial/sea_surface.json"),
        verb="refbrowser.tools.sample.verb",
        public="refbrowser.tools.sample.public:sample",
        synonyms=("init",),
    ),
    Tool(
        name="samples",
        heading=Heading.PROGRAM,
        words="list public datasets that can be opened by their URL",
        examples=("refbrowser samples",),
        verb="refbrowser.tools.samples.verb",
        public="refbrowser.tools.samples.public:samples",
        synonyms=("examples", "public"),
    ),
    Tool(
        name="config",
        heading=Heading.PROGRAM,
        words="show or change settings of the command line: trusted origins and others",
        examples=("refbrowser config set allow https://data.example.org", "refbrowser config show"),
        verb="refbrowser.tools.config.verb",
        synonyms=("settings",),
    ),
    Tool(
        name="completion",
        heading=Heading.PROGRAM,
        words="print what lets bash, zsh or fish complete verbs and options",
        examples=("refbrowser completion bash",),
        verb="refbrowser.tools.completion.verb",
        synonyms=("completions",),
    ),
    Tool(
        name="man",
        heading=Heading.PROGRAM,
        words="print a page for man, or write all of them",
        examples=("refbrowser man audit", "refbrowser man -o man1"),
        verb="refbrowser.tools.man.verb",
        synonyms=("manpage",),
    ),
    Tool(
        name="schema",
        heading=Heading.PROGRAM,
        words="print the JSON Schema of what a verb prints with --json",
        examples=("refbrowser schema info", "refbrowser schema"),
        verb="refbrowser.tools.schema.verb",
        synonyms=("schemas",),
    ),
    Tool(
        name="limits",
        heading=Heading.PROGRAM,
        words="print the limits in force",
        examples=("refbrowser limits",),
        verb="refbrowser.tools.limits.verb",
    ),
)
_NAMED = {tool.name: tool for tool in BUILT_IN}


@cache
def foreign() -> Plugins[Tool]:
    """Return the tools of other packages; they are looked for once."""
    return plugins(GROUP, Tool, _NAMED)


def tools() -> tuple[Tool, ...]:
    """Return all tools, those of other packages last."""
    return (*BUILT_IN, *foreign().values)


def is_built_in(name: str) -> bool:
    """Whether a tool of this package has the name; no other package is looked for."""
    return name in _NAMED


def tool_named(name: str) -> Tool | None:
    """Return the tool of a name, or None."""
    return _NAMED.get(name) or next((tool for tool in foreign().values if tool.name == name), None)


def headings() -> dict[Heading, tuple[Tool, ...]]:
    """Return the tools by the headings of the help: those of wings that are missing are not among them."""
    here = [tool for tool in tools() if tool.is_installed]
    return {heading: tuple(tool for tool in here if tool.heading is heading) for heading in Heading}


def suggestion(word: str) -> str:
    """Return the verb that somebody meant; empty where it cannot be guessed."""
    from difflib import get_close_matches

    meant = {synonym: tool.name for tool in tools() for synonym in tool.synonyms}
    names = [tool.name for tool in tools()]
    return meant.get(word.lower()) or next(iter(get_close_matches(word.lower(), names, n=1)), "")
