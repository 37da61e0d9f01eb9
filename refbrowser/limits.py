"""The limits over foreign input, in one table; formats may have more. `refbrowser limits` prints them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


def limit(value: float, unit: str, meaning: str) -> Any:
    """Return the field of a limit."""
    return field(default=value, metadata={"unit": unit, "meaning": meaning})


# A hundred fields: functions made for them would be compiled at each start.
@dataclass(frozen=True, init=False, eq=False, repr=False)
class LimitTable:
    """Some limits; a field is the number in force, its metadata holds unit and meaning."""

    def __init__(self, **changed: float) -> None:
        for name, value in changed.items():
            object.__setattr__(self, name, value)

    def rows(self) -> list[tuple[str, float, str, str]]:
        """Return one row (name, value, unit, meaning) for each limit."""
        return [
            (item.name, getattr(self, item.name), item.metadata["unit"], item.metadata["meaning"])
            for item in fields(self)
        ]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Limits(LimitTable):
    """The limits of all that is no wing."""

    # Templates
    template_source: int = limit(64 * KIB, "bytes", "source text of one template, without constant lists")
    template_list: int = limit(MIB, "bytes", "constant lists of integers in one template")
    template_lists: int = limit(16 * MIB, "bytes", "such lists in the templates of one document")
    template_nesting: int = limit(50, "levels", "brackets or operators nested in a template")
    template_nodes: int = limit(5_000, "nodes", "parse tree nodes of one template")
    template_string: int = limit(64 * KIB, "bytes", "string made by one expression")
    template_integer_bits: int = limit(128, "bits", "integer made by one expression")
    template_padding: int = limit(1_024, "characters", "width of a formatted value")
    template_precision: int = limit(64, "digits", "precision of a formatted value")
    template_steps_entry: int = limit(10_000, "steps", "evaluation steps of one entry")
    template_steps_job: int = limit(200_000_000, "steps", "evaluation steps of one search")
    search_time: float = limit(20, "s", "search of the gen rules of one document for faults")
    template_call_depth: int = limit(8, "levels", "template calls nested in arguments")
    templates_per_document: int = limit(10_000, "templates", "templates in one document")
    templates_source: int = limit(MIB, "bytes", "templates of one document, those of plain text aside")
    dimensions_per_rule: int = limit(16, "dimensions", "dimensions of one gen rule")
    gen_rules: int = limit(50_000, "rules", "gen rules in one document")
    rules_source: int = limit(16 * MIB, "bytes", "fields of all gen rules, those of plain text aside")
    write_out_question: int = limit(10_000_000, "entries", "entries written out without a question")
    own_chunks_question: int = limit(
        256 * MIB, "bytes", "own chunks of files that are combined, written without a question"
    )
    write_out_compared: int = limit(20_000_000, "rows", "generated keys compared to write out each once")
    # Documents
    json_size: int = limit(2 * GIB, "bytes", "JSON document after decompression")
    json_question: int = limit(256 * MIB, "bytes", "JSON document opened without a question")
    json_nesting: int = limit(200, "levels", "nesting of a JSON document")
    json_values: int = limit(500_000, "values", "values in one entry, and in everything beside refs")
    json_digits: int = limit(40, "digits", "digits of one integer")
    references: int = limit(20_000_000, "entries", "references written out in refs")
    references_described: int = limit(
        1_000_000,
        "entries",
        "references that are read to describe a dataset; more are read as they are needed",
    )
    inline_value: int = limit(64 * MIB, "bytes", "one inline value")
    key_length: int = limit(4_096, "characters", "length of a key")
    url_length: int = limit(16_384, "characters", "length of a URL")
    journal_size: int = limit(256 * MIB, "bytes", "journal of the unsaved edits of one document")
    lock_size: int = limit(512 * MIB, "bytes", "lock of one document")
    lock_files: int = limit(1_000_000, "files", "files that are locked for one document")
    lock_values: int = limit(8_000_000, "values", "values of one lock")
    lock_objects: int = limit(2_500_000, "objects", "lists and objects of one lock")
    expect_size: int = limit(16 * MIB, "bytes", "file that says what a document should hold")
    session_size: int = limit(16 * MIB, "bytes", "file of a session of the window")
    expect_blocks: int = limit(1_000_000, "steps", "blocks of chunks that are held against others")
    expect_runs: int = limit(2_000_000, "runs", "runs of times or rows that are counted one by one")
    expect_times: int = limit(50_000_000, "times", "times of one axis that are held against what is expected")
    expect_axes: int = limit(1_000, "axes", "axes of times that one document should hold")
    expect_files: int = limit(1_000_000, "files", "files that are listed and held against what is expected")
    declared_arrays: int = limit(100_000, "arrays", "arrays of which properties are declared")
    # HTTP
    http_connect: float = limit(10, "s", "time to connect")
    http_connect_again: float = limit(1, "s", "wait for a connection before a second is tried beside it")
    http_first_byte: float = limit(20, "s", "wait for the first byte of an answer")
    http_between_bytes: float = limit(15, "s", "wait between bytes of an answer")
    http_slow_rate: int = limit(KIB, "bytes/s", "slowest accepted rate")
    http_slow_window: float = limit(30, "s", "time over which the slowest rate is measured")
    http_tries: int = limit(4, "tries", "tries of one request in interactive work")
    http_tries_export: int = limit(10, "tries", "tries of one request in an export")
    http_total: float = limit(45, "s", "one request in interactive work, plus bytes / http_total_rate")
    http_total_export: float = limit(180, "s", "one request in an export, plus bytes / http_total_rate")
    http_total_rate: int = limit(256 * KIB, "bytes/s", "rate that lengthens the total time")
    http_wait_start: float = limit(0.1, "s", "first wait before another try")
    http_wait_most: float = limit(15, "s", "longest wait before another try")
    http_retry_after: float = limit(60, "s", "longest Retry-After that is kept")
    http_redirects: int = limit(5, "hops", "redirects of one request")
    login_hops: int = limit(10, "hops", "requests of one login")
    login_cookies: int = limit(50, "cookies", "cookies that one login gives")
    login_cookie: int = limit(8 * KIB, "bytes", "cookies of one login that are sent")
    credentials_answer: int = limit(64 * KIB, "bytes", "answer that gives credentials which expire")
    http_headers: int = limit(64 * KIB, "bytes", "headers of one answer")
    http_header_lines: int = limit(200, "lines", "header lines of one answer")
    http_cut: int = limit(8 * MIB, "bytes", "whole object accepted where a range was requested")
    connections_per_host: int = limit(128, "connections", "connections to one host")
    connections_total: int = limit(160, "connections", "connections in all")
    connections_throttled: int = limit(6, "connections", "connections to a host that answered 429 or 503")
    circuit_failures: int = limit(5, "reads", "failed reads in a row that open a host's circuit")
    circuit_open: float = limit(30, "s", "how long a host's circuit stays open")
    # Metadata and decoding
    metadata_elsewhere: int = limit(256 * MIB, "bytes", "metadata that one document refers to elsewhere")
    metadata_values: int = limit(5_000_000, "values", "values in one metadata document, consolidated or not")
    store_documents: int = limit(1_000_000, "documents", "metadata documents of one store")
    store_names: int = limit(2_000_000, "names", "names that are listed to open one store")
    rank: int = limit(32, "dimensions", "dimensions of an array")
    audit_bits: int = limit(
        1 << 32, "chunks", "chunks of one store that are remembered one by one when listed"
    )
    audit_folders: int = limit(10_000_000, "folders", "folders of an object store that are listed")
    target_objects: int = limit(
        50_000_000, "objects", "objects of an object store that are listed below one target"
    )
    zip_members: int = limit(10_000_000, "members", "members of one zip archive")
    zip_directory: int = limit(2 * GIB, "bytes", "directory of one zip archive")
    inlined_members: int = limit(64 * MIB, "bytes", "deflated zip members written into one document")
    zip_compared: int = limit(4096, "members", "names of a local zip archive compared with local headers")
    zip_growth: int = limit(1_000, "times", "growth of a bzip2 or LZMA member of a zip archive")
    zip_growth_from: int = limit(16 * MIB, "bytes", "such a member that may grow by any factor")
    zip_rescue: int = limit(4 * GIB, "bytes", "search for the members of a zip archive without a directory")
    zip_rescue_remote: int = limit(64 * MIB, "bytes", "such a search in an archive of a server")
    zip_confirmed_remote: int = limit(
        64 * MIB, "bytes", "zip member of a server that is read whole to confirm a part of it"
    )
    zip_kept: int = limit(128 * MIB, "bytes", "inflated zip members kept while parts of them are read")
    parquet_rows: int = limit(5_000_000, "rows", "rows of one record file of references")
    parquet_record: int = limit(256 * MIB, "bytes", "such a file when it is unpacked")
    awkward_type_text: int = limit(16 * KIB, "characters", "type of a nested array as text")
    library_memory: int = limit(GIB, "bytes", "memory of a process in which a library reads a file")
    library_time: float = limit(60, "s", "one question to such a process")
    library_tile: int = limit(16 * MIB, "bytes", "values of one question to such a process")
    library_objects: int = limit(1_000_000, "objects", "groups and arrays of one file that are listed")
    library_kept: int = limit(
        64 * MIB, "bytes", "the description of one file by a library, kept between runs"
    )
    library_cache: int = limit(256 * MIB, "bytes", "all of that together")
    library_attributes: int = limit(64 * MIB, "bytes", "attributes of one file that are read")
    library_attribute: int = limit(4 * MIB, "bytes", "one attribute of a file that is read")
    library_apart: int = limit(16 * MIB, "bytes", "chunks of one file that are encoded again to open it")
    index_size: int = limit(64 * MIB, "bytes", "index of a GRIB file")
    index_messages: int = limit(200_000, "messages", "messages that such an index lists")
    index_cells: int = limit(8_000_000, "cells", "rows times columns of one in a table")
    index_line: int = limit(8 * KIB, "bytes", "one line of it")
    awkward_values: int = limit(1 << 26, "values", "values of one read of nested rows, written out")
    awkward_question: int = limit(128 * MIB, "bytes", "nested rows that are read without a question")
    lead_size: int = limit(64 * MIB, "bytes", "file that names others: NcML, VRT, STAC, list of URLs")
    lead_sources: int = limit(100_000, "files", "files that such a one names")
    lead_opened: int = limit(100, "files", "files of an NcML that is opened as a dataset by itself")
    lead_scanned: int = limit(10_000, "entries", "entries of folders that such an NcML scans")
    lead_elements: int = limit(1_000_000, "elements", "elements of such a one in XML")
    xml_size: int = limit(512 * MIB, "bytes", "description in XML")
    xml_tag: int = limit(4 * MIB, "bytes", "name and attributes of one element of a description in XML")
    xml_elements: int = limit(20_000_000, "elements", "elements of a description in XML")
    netcdf_header: int = limit(32 * MIB, "bytes", "header of a classic netCDF file")
    netcdf_entries: int = limit(200_000, "entries", "dimensions, attributes and variables of such a header")
    netcdf_variables: int = limit(32_768, "variables", "variables of such a header")
    group_nesting: int = limit(100, "levels", "groups in groups")
    elements: int = limit(2**63 - 1, "elements", "elements along a dimension; of an array that is exported")
    read_values: int = limit(1 << 36, "values", "values that one command reads")
    chunk_size: int = limit(512 * MIB, "bytes", "chunk that must be decoded whole")
    chunk_question: int = limit(128 * MIB, "bytes", "chunk decoded without a question")
    multiscale_levels: int = limit(100, "levels", "levels of one multiscale image")
    multiscale_pictures: int = limit(10_000, "pictures", "multiscale images that one group describes")
    views: int = limit(64, "views", "views of arrays in one window, with those of its other windows")
    figure_pixels: int = limit(100_000_000, "pixels", "pixels of a figure, or of one frame of a film")
    film_frames: int = limit(20_000, "frames", "frames of a film")
    film_pixels: int = limit(40_000_000_000, "pixels", "pixels of all frames of a film")
    view_chunks: int = limit(4_096, "chunks", "chunks touched by one view")
    view_elements: int = limit(1 << 24, "elements", "elements held by one view; more are sampled")
    view_points: int = limit(1 << 21, "points", "points held by one line; more are sampled")
    table_values: int = limit(10_000, "values", "texts and structures listed as a table")
    map_chunks: int = limit(1 << 21, "chunks", "chunks held by one chunk map; more are sampled")
    warnings_kept: int = limit(1_000, "warnings", "warnings of bytes of one dataset that are kept")
    chunk_log: int = limit(1 << 16, "chunks", "chunks of one array whose last read is remembered")
    view_decoded: int = limit(2 * GIB, "bytes", "bytes decoded for one view without a question")
    element_size: int = limit(MIB, "bytes", "one element")
    filters: int = limit(16, "filters", "filters of one array")
    mapped_values: int = limit(4096, "values", "values that a codec maps to others one by one")
    shard_nesting: int = limit(2, "levels", "shards in shards")
    decoding_memory: int = limit(GIB, "bytes", "decoded memory in flight")
    outside_time: float = limit(30, "s", "one chunk in a process for codecs outside of the bundled set")
    cache: int = limit(512 * MIB, "bytes", "cache of decoded chunks")
    page_size: int = limit(8 * MIB, "characters", "page of a report")
    page_rows: int = limit(1_000, "rows", "one table of such a page")
    junit_text: int = limit(2_000, "characters", "one text of a list of test cases")
    annotations: int = limit(50, "annotations", "annotations of one report for a server that builds")
    junit_cases: int = limit(5_000, "cases", "test cases of one report that are listed one by one")
    check_memory: int = limit(4 * GIB, "bytes", "address space of other software that reads an export")
    check_time: float = limit(900, "s", "other software that reads an export")
    try_time: float = limit(60, "s", "one try of another reader, of all arrays that it is tried on")
    try_sample: int = limit(256 * KIB, "bytes", "values of one array that a reader is tried on, about")
    try_reason: int = limit(300, "characters", "what a reader says of itself")
    export_block: int = limit(80 * MIB, "bytes", "elements of an export that are held together")
    export_memory: int = limit(320 * MIB, "bytes", "such blocks, and the bytes that are read for them")
    export_coding: int = limit(128 * MIB, "bytes", "chunks of an export being decoded or encoded")


LIMITS = Limits()


#: The limits that only ask, and that the user may therefore set.
ADJUSTABLE = ("json_question", "view_chunks", "view_decoded", "write_out_question")


def adjust(name: str, value: int) -> None:
    """Set one of the `ADJUSTABLE` limits for this process."""
    if name not in ADJUSTABLE:
        raise ValueError(f"{name} is a limit that cannot be changed")
    object.__setattr__(LIMITS, name, value)
