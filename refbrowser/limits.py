"""Every limit over foreign input, in one table; `refbrowser limits` prints it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


def _limit(value: float, unit: str, meaning: str) -> Any:
    return field(default=value, metadata={"unit": unit, "meaning": meaning})


# A hundred fields: functions made for them would be compiled at each start.
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Limits:
    """The numbers in force; a field's metadata holds its unit and meaning."""

    def __init__(self, **changed: float) -> None:
        for name, value in changed.items():
            object.__setattr__(self, name, value)

    # Templates
    template_source: int = _limit(64 * KIB, "bytes", "source text of one template, without constant lists")
    template_list: int = _limit(MIB, "bytes", "constant lists of integers in one template")
    template_lists: int = _limit(16 * MIB, "bytes", "such lists in the templates of one document")
    template_nesting: int = _limit(50, "levels", "brackets or operators nested in a template")
    template_nodes: int = _limit(5_000, "nodes", "parse tree nodes of one template")
    template_string: int = _limit(64 * KIB, "bytes", "string made by one expression")
    template_integer_bits: int = _limit(128, "bits", "integer made by one expression")
    template_padding: int = _limit(1_024, "characters", "width of a formatted value")
    template_precision: int = _limit(64, "digits", "precision of a formatted value")
    template_steps_entry: int = _limit(10_000, "steps", "evaluation steps of one entry")
    template_steps_job: int = _limit(200_000_000, "steps", "evaluation steps of one search")
    search_time: float = _limit(20, "s", "search of the gen rules of one document for faults")
    template_call_depth: int = _limit(8, "levels", "template calls nested in arguments")
    templates_per_document: int = _limit(10_000, "templates", "templates in one document")
    templates_source: int = _limit(MIB, "bytes", "templates of one document, those of plain text aside")
    dimensions_per_rule: int = _limit(16, "dimensions", "dimensions of one gen rule")
    gen_rules: int = _limit(50_000, "rules", "gen rules in one document")
    rules_source: int = _limit(16 * MIB, "bytes", "fields of all gen rules, those of plain text aside")
    write_out_question: int = _limit(10_000_000, "entries", "entries written out without a question")
    write_out_compared: int = _limit(20_000_000, "rows", "generated keys compared to write out each once")
    # Documents
    json_size: int = _limit(2 * GIB, "bytes", "JSON document after decompression")
    json_question: int = _limit(256 * MIB, "bytes", "JSON document opened without a question")
    json_nesting: int = _limit(200, "levels", "nesting of a JSON document")
    json_values: int = _limit(500_000, "values", "values in one entry, and in everything beside refs")
    json_digits: int = _limit(40, "digits", "digits of one integer")
    references: int = _limit(20_000_000, "entries", "references written out in refs")
    references_described: int = _limit(
        1_000_000,
        "entries",
        "references that are read to describe a dataset; more are read as they are needed",
    )
    inline_value: int = _limit(64 * MIB, "bytes", "one inline value")
    key_length: int = _limit(4_096, "characters", "length of a key")
    url_length: int = _limit(16_384, "characters", "length of a URL")
    journal_size: int = _limit(256 * MIB, "bytes", "journal of the unsaved edits of one document")
    lock_size: int = _limit(512 * MIB, "bytes", "lock of one document")
    lock_files: int = _limit(1_000_000, "files", "files that are locked for one document")
    lock_values: int = _limit(8_000_000, "values", "values of one lock")
    lock_objects: int = _limit(2_500_000, "objects", "lists and objects of one lock")
    # HTTP
    http_connect: float = _limit(10, "s", "time to connect")
    http_connect_again: float = _limit(1, "s", "wait for a connection before a second is tried beside it")
    http_first_byte: float = _limit(20, "s", "wait for the first byte of an answer")
    http_between_bytes: float = _limit(15, "s", "wait between bytes of an answer")
    http_slow_rate: int = _limit(KIB, "bytes/s", "slowest accepted rate")
    http_slow_window: float = _limit(30, "s", "time over which the slowest rate is measured")
    http_tries: int = _limit(4, "tries", "tries of one request in interactive work")
    http_tries_export: int = _limit(10, "tries", "tries of one request in an export")
    http_total: float = _limit(45, "s", "one request in interactive work, plus bytes / http_total_rate")
    http_total_export: float = _limit(180, "s", "one request in an export, plus bytes / http_total_rate")
    http_total_rate: int = _limit(256 * KIB, "bytes/s", "rate that lengthens the total time")
    http_wait_start: float = _limit(0.1, "s", "first wait before another try")
    http_wait_most: float = _limit(15, "s", "longest wait before another try")
    http_retry_after: float = _limit(60, "s", "longest Retry-After that is kept")
    http_redirects: int = _limit(5, "hops", "redirects of one request")
    login_hops: int = _limit(10, "hops", "requests of one login")
    login_cookies: int = _limit(50, "cookies", "cookies that one login gives")
    login_cookie: int = _limit(8 * KIB, "bytes", "cookies of one login that are sent")
    credentials_answer: int = _limit(64 * KIB, "bytes", "answer that gives credentials which expire")
    http_headers: int = _limit(64 * KIB, "bytes", "headers of one answer")
    http_header_lines: int = _limit(200, "lines", "header lines of one answer")
    http_cut: int = _limit(8 * MIB, "bytes", "whole object accepted where a range was requested")
    connections_per_host: int = _limit(128, "connections", "connections to one host")
    connections_total: int = _limit(160, "connections", "connections in all")
    connections_throttled: int = _limit(6, "connections", "connections to a host that answered 429 or 503")
    circuit_failures: int = _limit(5, "reads", "failed reads in a row that open a host's circuit")
    circuit_open: float = _limit(30, "s", "how long a host's circuit stays open")
    # Metadata and decoding
    metadata_elsewhere: int = _limit(256 * MIB, "bytes", "metadata that one document refers to elsewhere")
    metadata_values: int = _limit(5_000_000, "values", "values in one metadata document, consolidated or not")
    store_documents: int = _limit(1_000_000, "documents", "metadata documents of one store")
    store_names: int = _limit(2_000_000, "names", "names that are listed to open one store")
    rank: int = _limit(32, "dimensions", "dimensions of an array")
    audit_bits: int = _limit(
        1 << 32, "chunks", "chunks of one store that are remembered one by one when listed"
    )
    audit_folders: int = _limit(10_000_000, "folders", "folders of an object store that are listed")
    target_objects: int = _limit(
        50_000_000, "objects", "objects of an object store that are listed below one target"
    )
    zip_members: int = _limit(10_000_000, "members", "members of one zip archive")
    zip_directory: int = _limit(2 * GIB, "bytes", "directory of one zip archive")
    inlined_members: int = _limit(64 * MIB, "bytes", "deflated zip members written into one document")
    zip_compared: int = _limit(4096, "members", "names of a local zip archive compared with local headers")
    zip_growth: int = _limit(1_000, "times", "growth of a bzip2 or LZMA member of a zip archive")
    zip_growth_from: int = _limit(16 * MIB, "bytes", "such a member that may grow by any factor")
    zip_rescue: int = _limit(4 * GIB, "bytes", "search for the members of a zip archive without a directory")
    zip_rescue_remote: int = _limit(64 * MIB, "bytes", "such a search in an archive of a server")
    zip_confirmed_remote: int = _limit(
        64 * MIB, "bytes", "zip member of a server that is read whole to confirm a part of it"
    )
    zip_kept: int = _limit(128 * MIB, "bytes", "inflated zip members kept while parts of them are read")
    stream_nesting: int = _limit(64, "levels", "groups in groups, or structures in structures, of a stream")
    stream_message: int = _limit(512 * MIB, "bytes", "protobuf message or compressed block of a stream")
    stream_messages: int = _limit(5_000_000, "messages", "messages of one stream that are listed")
    stream_headers: int = _limit(
        20_000_000, "parts", "groups, dimensions, variables that headers of a stream extend, header by header"
    )
    stream_search: int = _limit(GIB, "bytes", "search for the next sound message, over a damaged stream")
    stream_search_remote: int = _limit(64 * MIB, "bytes", "such a search in a stream of a server")
    stream_faults: int = _limit(1_000, "faults", "faults of one stream that are listed one by one")
    stream_recent: int = _limit(64 * MIB, "bytes", "indexes of streams that are kept in memory")
    stream_index: int = _limit(128 * MIB, "bytes", "index of one stream that is kept between runs")
    stream_cache: int = _limit(256 * MIB, "bytes", "all such indexes together, deflated")
    icechunk_file: int = _limit(GIB, "bytes", "snapshot or manifest of an Icechunk repository, decompressed")
    icechunk_snapshots: int = _limit(
        1_000, "snapshots", "snapshots in the history of an Icechunk repository that are listed"
    )
    parquet_rows: int = _limit(5_000_000, "rows", "rows of one record file of references")
    parquet_record: int = _limit(256 * MIB, "bytes", "such a file when it is unpacked")
    icechunk_growth: int = _limit(200, "times", "growth of such a file when it is decompressed")
    icechunk_growth_from: int = _limit(64 * MIB, "bytes", "such a file that may grow by any factor")
    icechunk_lost: int = _limit(
        1_000_000, "chunks", "chunks whose manifest cannot be read that are listed one by one"
    )
    awkward_schema: int = _limit(16 * MIB, "bytes", "schema of one array of Awkward 0")
    awkward_schemas: int = _limit(64 * MIB, "bytes", "schemas of all arrays of one file of Awkward 0")
    awkward_nodes: int = _limit(100_000, "expressions", "expressions of one schema of Awkward 0")
    awkward_nesting: int = _limit(100, "levels", "expressions in expressions of Awkward 0")
    awkward_depth: int = _limit(64, "levels", "arrays in arrays of Awkward 0, through references too")
    awkward_parts: int = _limit(100_000, "parts", "arrays that one array of Awkward 0 is made of")
    awkward_pickle: int = _limit(1_000_000, "bytes", "pickle of plain values in a schema of Awkward 0")
    awkward_findings: int = _limit(1_000, "findings", "findings of one kind about one schema of Awkward 0")
    awkward_type_text: int = _limit(16 * KIB, "characters", "type of a nested array as text")
    awkward_files: int = _limit(1_000_000, "files", "files of a folder that are listed for Awkward 0")
    awkward_arrays: int = _limit(100_000, "arrays", "arrays of one file of Awkward 0")
    awkward_fields: int = _limit(10_000, "fields", "fields of one array of Awkward 0 shown as arrays")
    awkward_field_levels: int = _limit(8, "levels", "such fields in fields")
    awkward_search: int = _limit(
        64 * MIB, "bytes", "members that are looked into for schemas, where their names do not show it"
    )
    awkward_hdf5_memory: int = _limit(GIB, "bytes", "memory of the process that writes into an HDF5 file")
    awkward_hdf5_time: float = _limit(60, "s", "writing by that process, besides what its bytes take")
    library_memory: int = _limit(GIB, "bytes", "memory of a process in which a library reads a file")
    library_time: float = _limit(60, "s", "one question to such a process")
    library_objects: int = _limit(1_000_000, "objects", "groups and arrays of one file that are listed")
    library_kept: int = _limit(
        64 * MIB, "bytes", "the description of one file by a library, kept between runs"
    )
    library_cache: int = _limit(256 * MIB, "bytes", "all of that together")
    library_attributes: int = _limit(64 * MIB, "bytes", "attributes of one file that are read")
    library_attribute: int = _limit(4 * MIB, "bytes", "one attribute of a file that is read")
    library_apart: int = _limit(16 * MIB, "bytes", "chunks of one file that are encoded again to open it")
    index_size: int = _limit(64 * MIB, "bytes", "index of a GRIB file")
    index_messages: int = _limit(200_000, "messages", "messages that such an index lists")
    index_line: int = _limit(8 * KIB, "bytes", "one line of it")
    awkward_visits: int = _limit(20_000, "nodes", "arrays that one read of nested rows goes through")
    awkward_rows: int = _limit(2 * GIB, "bytes", "elements held by one read of nested rows")
    awkward_index: int = _limit(256 * MIB, "bytes", "index of nested rows that must be held whole")
    awkward_marks: int = _limit(64 * MIB, "bytes", "sums of indexes of one nested array that are kept")
    awkward_values: int = _limit(1 << 26, "values", "values of one read of nested rows, written out")
    awkward_measured: int = _limit(
        64 * MIB, "bytes", "indexes read when a file is opened, where only they give the number of rows"
    )
    awkward_question: int = _limit(128 * MIB, "bytes", "nested rows that are read without a question")
    awkward_turns: int = _limit(1_000, "turns", "turns of a cycle that are followed in nested rows")
    awkward_faults: int = _limit(1_000, "faults", "unreadable parts of one read of nested rows, listed")
    lead_size: int = _limit(64 * MIB, "bytes", "file that names others: NcML, VRT, STAC, list of URLs")
    lead_sources: int = _limit(100_000, "files", "files that such a one names")
    xml_size: int = _limit(512 * MIB, "bytes", "description in XML")
    xml_elements: int = _limit(20_000_000, "elements", "elements of a description in XML")
    netcdf_header: int = _limit(32 * MIB, "bytes", "header of a classic netCDF file")
    netcdf_entries: int = _limit(200_000, "entries", "dimensions, attributes and variables of such a header")
    netcdf_variables: int = _limit(32_768, "variables", "variables of such a header")
    group_nesting: int = _limit(100, "levels", "groups in groups")
    elements: int = _limit(2**63 - 1, "elements", "elements along a dimension; of an array that is exported")
    read_values: int = _limit(1 << 36, "values", "values that one command reads")
    chunk_size: int = _limit(512 * MIB, "bytes", "chunk that must be decoded whole")
    chunk_question: int = _limit(128 * MIB, "bytes", "chunk decoded without a question")
    multiscale_levels: int = _limit(100, "levels", "levels of one multiscale image")
    multiscale_pictures: int = _limit(10_000, "pictures", "multiscale images that one group describes")
    view_chunks: int = _limit(4_096, "chunks", "chunks touched by one view")
    view_elements: int = _limit(1 << 24, "elements", "elements held by one view; more are sampled")
    view_points: int = _limit(1 << 21, "points", "points held by one line; more are sampled")
    table_values: int = _limit(10_000, "values", "texts and structures listed as a table")
    map_chunks: int = _limit(1 << 21, "chunks", "chunks held by one chunk map; more are sampled")
    supply_elements: int = _limit(
        1 << 21, "elements", "elements of one picture of messages; more are sampled"
    )
    supply_work: int = _limit(1 << 30, "elements", "elements of all messages that are combined for it")
    warnings_kept: int = _limit(1_000, "warnings", "warnings of bytes of one dataset that are kept")
    chunk_log: int = _limit(1 << 16, "chunks", "chunks of one array whose last read is remembered")
    view_decoded: int = _limit(2 * GIB, "bytes", "bytes decoded for one view without a question")
    element_size: int = _limit(MIB, "bytes", "one element")
    filters: int = _limit(16, "filters", "filters of one array")
    mapped_values: int = _limit(4096, "values", "values that a codec maps to others one by one")
    shard_nesting: int = _limit(2, "levels", "shards in shards")
    decoding_memory: int = _limit(GIB, "bytes", "decoded memory in flight")
    outside_time: float = _limit(30, "s", "one chunk in a process for codecs outside of the bundled set")
    cache: int = _limit(512 * MIB, "bytes", "cache of decoded chunks")
    check_memory: int = _limit(4 * GIB, "bytes", "address space of other software that reads an export")
    check_time: float = _limit(900, "s", "other software that reads an export")
    export_block: int = _limit(80 * MIB, "bytes", "elements of an export that are held together")
    export_memory: int = _limit(320 * MIB, "bytes", "such blocks, and the bytes that are read for them")
    export_coding: int = _limit(128 * MIB, "bytes", "chunks of an export being decoded or encoded")
    # CDM Remote
    remote_tile: int = _limit(16 * MIB, "bytes", "values of one request of CDM Remote")
    remote_objects: int = _limit(1 << 16, "elements", "texts, rows and structures of one request")
    remote_header: int = _limit(64 * MIB, "bytes", "description of a dataset of CDM Remote")
    serve_requests: int = _limit(16, "requests", "requests answered at a time by a service")
    serve_connections: int = _limit(512, "connections", "connections that a service has at a time")
    serve_held: int = _limit(256 * MIB, "bytes", "answers not yet read by clients; the slowest are cut off")
    serve_queue: float = _limit(10, "s", "wait of a request for others to be answered")
    serve_head: float = _limit(20, "s", "time in which a request must have come")
    serve_send: float = _limit(30, "s", "wait for a client to take what is sent")
    serve_rate: int = _limit(8 * KIB, "bytes/s", "what a client must take, over a whole answer")
    serve_answer: int = _limit(2 * GIB, "bytes", "one answer of a service")
    serve_block: int = _limit(8 * MIB, "bytes", "values of one answer that are held together")
    serve_whole: int = _limit(64 * MIB, "bytes", "answers that can only be made as a whole")
    serve_objects: int = _limit(1 << 20, "elements", "texts, rows and structures in one answer")


LIMITS = Limits()


#: The limits that only ask, and that the user may therefore set.
ADJUSTABLE = ("json_question", "view_chunks", "view_decoded", "write_out_question")


def adjust(name: str, value: int) -> None:
    """Set one of the `ADJUSTABLE` limits for this process."""
    if name not in ADJUSTABLE:
        raise ValueError(f"{name} is a limit that cannot be changed")
    object.__setattr__(LIMITS, name, value)


def table() -> list[tuple[str, float, str, str]]:
    """Return one row (name, value, unit, meaning) for each limit in force."""
    return [
        (item.name, getattr(LIMITS, item.name), item.metadata["unit"], item.metadata["meaning"])
        for item in fields(LIMITS)
    ]
