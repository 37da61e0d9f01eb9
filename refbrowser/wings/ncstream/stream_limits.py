"""The limits of ncstream and CDM Remote that no other format has."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.limits import GIB, KIB, MIB, LimitTable, limit


@dataclass(frozen=True, init=False, eq=False, repr=False)
class StreamLimits(LimitTable):
    """What streams, services and their clients may cost."""

    stream_nesting: int = limit(64, "levels", "groups in groups, or structures in structures, of a stream")
    stream_message: int = limit(512 * MIB, "bytes", "protobuf message or compressed block of a stream")
    stream_messages: int = limit(5_000_000, "messages", "messages of one stream that are listed")
    stream_headers: int = limit(
        20_000_000, "parts", "groups, dimensions, variables that headers of a stream extend, header by header"
    )
    stream_search: int = limit(GIB, "bytes", "search for the next sound message, over a damaged stream")
    stream_search_remote: int = limit(64 * MIB, "bytes", "such a search in a stream of a server")
    stream_faults: int = limit(1_000, "faults", "faults of one stream that are listed one by one")
    stream_recent: int = limit(64 * MIB, "bytes", "indexes of streams that are kept in memory")
    stream_index: int = limit(128 * MIB, "bytes", "index of one stream that is kept between runs")
    stream_cache: int = limit(256 * MIB, "bytes", "all such indexes together, deflated")
    supply_elements: int = limit(1 << 21, "elements", "elements of one picture of messages; more are sampled")
    supply_work: int = limit(1 << 30, "elements", "elements of all messages that are combined for it")
    remote_tile: int = limit(16 * MIB, "bytes", "values of one request of CDM Remote")
    remote_objects: int = limit(1 << 16, "elements", "texts, rows and structures of one request")
    remote_header: int = limit(64 * MIB, "bytes", "description of a dataset of CDM Remote")
    serve_requests: int = limit(16, "requests", "requests answered at a time by a service")
    serve_connections: int = limit(512, "connections", "connections that a service has at a time")
    serve_held: int = limit(256 * MIB, "bytes", "answers not yet read by clients; the slowest are cut off")
    serve_queue: float = limit(10, "s", "wait of a request for others to be answered")
    serve_head: float = limit(20, "s", "time in which a request must have come")
    serve_send: float = limit(30, "s", "wait for a client to take what is sent")
    serve_rate: int = limit(8 * KIB, "bytes/s", "what a client must take, over a whole answer")
    serve_answer: int = limit(2 * GIB, "bytes", "one answer of a service")
    serve_block: int = limit(8 * MIB, "bytes", "values of one answer that are held together")
    serve_whole: int = limit(64 * MIB, "bytes", "answers that can only be made as a whole")
    serve_objects: int = limit(1 << 20, "elements", "texts, rows and structures in one answer")


STREAM_LIMITS = StreamLimits()
