"""Where the bytes come from, what was answered, and how they are decoded; and when nothing may be asked."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import numcodecs
import numpy as np
import pytest
from documents_made import DocumentMaker
from explained import dataset, document, faults, line, of_element, of_key
from servers.http_server import Fault, HttpServer

from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.tools.explain.report.explain import Question, explain
from refbrowser.tools.explain.report.explanation import LinkKind, StepState, VerdictKind

CHUNK = np.arange(6, dtype="<i2").reshape(2, 3)
ZLIB = {"compressor": {"id": "zlib", "level": 1}}


@pytest.fixture
def server():
    with HttpServer({"/x.bin": b"head" + CHUNK.tobytes()}) as server:
        yield server


@pytest.fixture
def remote(server: HttpServer, tmp_path: Path) -> Path:
    return document(tmp_path, {"a/0.0": [server.url("/x.bin"), 4, 12]})


class TestServers:
    def test_what_was_asked_and_answered(self, server: HttpServer, remote: Path) -> None:
        with dataset(remote, server.origin) as opened:
            explanation = of_element(opened, 1, 2)
        assert explanation.verdict == "This element is 5"
        answer = explanation.step("answer")
        assert answer.title == "What the server answered"
        assert line(answer, "Asked") == f"GET {server.url('/x.bin')} with Range: bytes=4-15"
        assert line(answer, "Answer").startswith("HTTP/1.1 206 ")
        assert "content-range: bytes 4-15/16" in line(answer, "Headers")
        assert answer.facts["received"] == 12
        assert explanation.step("elements").hexes[0].rows(8) == [
            "00000000  00 00 01 00 02 00 03 00  ........",
            "00000008  04 00[05 00]             ....",
        ]

    def test_a_refusal(self, server: HttpServer, remote: Path) -> None:
        server.faults["/x.bin"] = Fault("status", value=404)
        with dataset(remote, server.origin) as opened:
            explanation = of_element(opened, 0, 0)
            assert explanation.kind is VerdictKind.FAILED_READ
            assert explanation.verdict.startswith("This element could not be read: the server answered 404")
            assert faults(explanation) == ["answer"]
            assert explanation.step("answer").facts["attempts"][0]["answer"].startswith("HTTP/1.1 404")
            assert explanation.links[0].kind is LinkKind.RETRY
            del server.faults["/x.bin"]
            assert of_element(opened, 0, 0).kind is VerdictKind.VALUE

    def test_a_server_without_ranges_is_told(self, server: HttpServer, remote: Path) -> None:
        server.faults["/x.bin"] = Fault("ignore_ranges")
        with dataset(remote, server.origin) as opened:
            explanation = of_element(opened, 1, 2)
        assert explanation.verdict == "This element is 5"
        assert line(explanation.step("answer"), "Note").startswith("the server sent the whole file")

    def test_tries_are_counted(self, server: HttpServer, remote: Path) -> None:
        server.faults["/x.bin"] = Fault("status", value=503, times=1)
        with dataset(remote, server.origin) as opened:
            explanation = of_element(opened, 0, 0)
        answer = explanation.step("answer")
        assert explanation.kind is VerdictKind.VALUE
        assert answer.state is StepState.WARNING
        assert answer.facts["tries"] == 2
        assert "503" in line(answer, "Failed")
        assert "tried again after" in line(answer, "Failed")

    def test_nothing_is_asked_without_permission(self, server: HttpServer, remote: Path) -> None:
        with dataset(remote) as opened:
            explanation = of_element(opened, 0, 0)
            assert explanation.kind is VerdictKind.BLOCKED
            assert explanation.verdict == (
                f"This element was not read: reading from {server.origin} needs your permission"
            )
            assert explanation.links[0].kind is LinkKind.PERMISSIONS
            assert explanation.step("place").facts["permission"] == "needed"
            assert explanation.step("answer") is None
            assert of_key(opened, "a/0.0").verdict.startswith("Chunk a/0.0 was not read")
        assert server.requests == []

    def test_a_redirect_to_where_nothing_is_permitted(self, server: HttpServer, remote: Path) -> None:
        with HttpServer({"/y.bin": b""}) as other:
            server.faults["/x.bin"] = Fault("redirect", value=other.url("/y.bin"))
            with dataset(remote, server.origin) as opened:
                explanation = of_element(opened, 0, 0)
            assert explanation.kind is VerdictKind.BLOCKED
            assert explanation.links[0].kind is LinkKind.PERMISSIONS
            assert line(explanation.step("answer"), "Redirected to") == other.url("/y.bin")
            assert other.requests == []

    def test_pointing_reads_nothing(self, server: HttpServer, remote: Path) -> None:
        with dataset(remote, server.origin) as opened:
            explanation = of_element(opened, 0, 0, read=False)
            assert explanation.kind is VerdictKind.NOT_READ
            seen = of_element(opened, 0, 0, read=False, seen=np.int16(3))
            assert seen.verdict == "This element is 3"
        assert server.requests == []

    def test_protocols_that_are_never_read(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {"a/0.0": ["ftp://example.org/x", 0, 12]})) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.FAILED_READ
        assert faults(explanation) == ["place"]
        assert explanation.step("place").facts["permission"] == "never"


class TestFiles:
    def test_another_folder_needs_permission(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "x.bin").write_bytes(CHUNK.tobytes())
        (tmp_path / "docs").mkdir()
        path = document(tmp_path / "docs", {"a/0.0": ["../data/x.bin", 0, 12]})
        with dataset(path) as opened:
            assert of_element(opened, 0, 1).kind is VerdictKind.BLOCKED
        with dataset(path, str(tmp_path / "data")) as opened:
            explanation = of_element(opened, 0, 1)
        assert explanation.verdict == "This element is 1"
        assert explanation.step("answer").title == "What the disk answered"
        assert "may read from" in line(explanation.step("place"), "Permission")

    def test_no_such_file(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {"a/0.0": ["none.bin"]})) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.verdict == "This element could not be read: there is no such file"
        assert line(explanation.step("answer"), "Asked").endswith("none.bin, all of it")

    def test_range_beyond_the_end(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(b"short")
        with dataset(document(tmp_path, {"a/0.0": ["x.bin", 0, 12]})) as opened:
            explanation = of_element(opened, 0, 0)
        assert (
            explanation.verdict
            == "This element could not be read: the object has 5 bytes, the range ends at 12"
        )
        assert "a file of 5 bytes" in line(explanation.step("answer"), "Answer")

    def test_inline(self, tmp_path: Path) -> None:
        path = document(tmp_path, {"a/0.0": "abcdefghijkl"})
        with dataset(path) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.verdict == f"This element is {int.from_bytes(b'ab', 'little')}"
        assert explanation.step("place") is None
        assert explanation.step("answer") is None
        assert "in the document itself" in line(explanation.step("bytes"), "Size")


class TestDecoding:
    def test_each_codec_with_its_sizes(self, tmp_path: Path) -> None:
        maker = DocumentMaker(tmp_path)
        values = np.arange(4000, dtype="<f4").reshape(40, 100)
        maker.array("a", values, (40, 100), filters=[numcodecs.Shuffle(4)], compressors=numcodecs.Zlib(3))
        with dataset(maker.write()) as opened:
            explanation = of_element(opened, 1, 7)
        assert explanation.verdict == "This element is 107"
        steps = [step for step in explanation.steps if step.name == "codec"]
        assert [step.facts["codec"] for step in steps] == ["zlib", "shuffle"]
        sizes = [(step.facts["bytes_in"], step.facts["bytes_out"]) for step in steps]
        assert sizes == [(explanation.step("bytes").facts["size"], 16_000), (16_000, 16_000)]
        assert line(steps[0], "Settings") == "level 3"
        assert explanation.step("elements").facts["element_bytes"] == np.float32(107).tobytes().hex()

    def test_the_codec_that_fails(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(zlib.compress(CHUNK.tobytes())[:-6])
        with dataset(document(tmp_path, {"a/0.0": ["x.bin"]}, array=ZLIB)) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.FAILED_DECODE
        assert explanation.verdict.startswith("This element was read and could not be decoded: codec 'zlib'")
        assert faults(explanation) == ["codec"]
        failed = explanation.step("codec")
        assert failed.facts["bytes_in"] == explanation.step("bytes").facts["size"]
        assert "Hint" not in [each.name for each in failed.lines]

    @pytest.mark.parametrize(
        ("data", "array", "likely"),
        [
            (gzip.compress(CHUNK.tobytes(), mtime=0), ZLIB, "gzip"),
            (zlib.compress(CHUNK.tobytes()), {}, "zlib"),
            (b"<!DOCTYPE html><html>Log in first</html>", ZLIB, "a web page"),
            (b"\x89HDF\r\n\x1a\n" + bytes(20), ZLIB, "HDF5"),
        ],
    )
    def test_what_the_bytes_begin_like(
        self, tmp_path: Path, data: bytes, array: dict[str, object], likely: str
    ) -> None:
        (tmp_path / "x.bin").write_bytes(data)
        with dataset(document(tmp_path, {"a/0.0": ["x.bin"]}, array=array)) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.FAILED_DECODE
        failed = next(step for step in explanation.steps if step.state is StepState.FAULT)
        assert likely in line(failed, "Hint")

    def test_too_many_bytes_for_the_shape(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(bytes(14))
        with dataset(document(tmp_path, {"a/0.0": ["x.bin"]})) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.FAILED_DECODE
        assert "the chunk is 14 bytes, its shape and type 12" in explanation.verdict

    def test_more_bytes_than_a_chunk(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(zlib.compress(bytes(5000)))
        with dataset(document(tmp_path, {"a/0.0": ["x.bin"]}, array=ZLIB)) as opened:
            assert of_element(opened, 0, 0).kind is VerdictKind.FAILED_DECODE

    def test_unknown_codec(self, tmp_path: Path) -> None:
        array = {"compressor": {"id": "mystery"}}
        (tmp_path / "x.bin").write_bytes(b"x")
        with dataset(document(tmp_path, {"a/0.0": ["x.bin"]}, array=array)) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.UNREADABLE
        assert "'mystery'" in explanation.verdict
        assert explanation.step("answer") is None

    def test_strings(self, tmp_path: Path) -> None:
        array = {
            "dtype": "|O",
            "filters": [{"id": "vlen-utf8"}],
            "shape": [2],
            "chunks": [2],
            "fill_value": "",
        }
        data = numcodecs.VLenUTF8().encode(np.array(["ab", "cd\x1b"], object))
        (tmp_path / "x.bin").write_bytes(bytes(data))
        with dataset(document(tmp_path, {"a/0": ["x.bin"]}, array=array)) as opened:
            explanation = of_element(opened, 1)
        assert explanation.kind is VerdictKind.VALUE
        assert "cd\\x1b" in explanation.verdict

    def test_a_large_uncompressed_chunk_is_read_only_where_the_element_is(self, tmp_path: Path) -> None:
        values = np.arange(1_000_000, dtype="<i4").reshape(1000, 1000)
        (tmp_path / "x.bin").write_bytes(b"head" + values.tobytes())
        array = {"dtype": "<i4", "shape": [1000, 1000], "chunks": [1000, 1000]}
        path = document(tmp_path, {"a/0.0": ["x.bin", 4, 4_000_000]}, array=array)
        with dataset(path) as opened:
            explanation = of_element(opened, 700, 5)
            whole = of_key(opened, "a/0.0")
        assert explanation.verdict == "This element is 700005"
        assert explanation.step("answer").facts["received"] < 200
        stored = explanation.step("bytes")
        assert stored.facts["size"] == 4_000_000
        assert stored.facts["element_bytes"] == np.int32(700_005).tobytes().hex()
        assert f"[{np.int32(700_005).tobytes().hex(' ')}]" in "".join(stored.hexes[1].rows())
        assert whole.kind is VerdictKind.READABLE

    def test_a_large_uncompressed_chunk_of_the_wrong_size(self, tmp_path: Path) -> None:
        array = {"dtype": "<i4", "shape": [1000, 1000], "chunks": [1000, 1000]}
        (tmp_path / "x.bin").write_bytes(bytes(100))
        with dataset(document(tmp_path, {"a/0.0": ["x.bin", 0, 100]}, array=array)) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.FAILED_DECODE
        assert "the chunk is 100 bytes" in explanation.verdict


class TestShards:
    def written(self, folder: Path, values: np.ndarray, origin: str = "") -> Path:
        maker = DocumentMaker(folder, zarr_format=3)
        maker.array("a", values, (2, 2), shards=(4, 4), compressors=None, fill_value=-1)
        return maker.write(base=origin)

    def test_only_the_index_and_the_inner_chunk_are_read(self, tmp_path: Path) -> None:
        values = np.arange(64, dtype="<i4").reshape(8, 8)
        path = self.written(tmp_path, values)
        with HttpServer({"/data.bin": (tmp_path / "data.bin").read_bytes()}) as server:
            text = json.loads(path.read_text())
            for value in text["refs"].values():
                if isinstance(value, list):
                    value[0] = server.url("/data.bin")
            path.write_text(json.dumps(text))
            with dataset(path, server.origin) as opened:
                explanation = of_element(opened, 3, 6)
        assert explanation.verdict == "This element is 30"
        assert [step.name for step in explanation.steps] == [
            "element", "key", "entry", "place", "answer", "shard", "answer", "bytes", "elements", "value",
        ]  # fmt: skip
        shard = explanation.step("shard")
        assert line(shard, "Inner chunk") == "[1, 1], in it the element [1, 0]"
        assert explanation.step("bytes").facts["size"] == 16
        assert sum(step.facts.get("received", 0) for step in explanation.steps) == 16 + 4 * 16 + 4

    def test_a_missing_inner_chunk(self, tmp_path: Path) -> None:
        values = np.arange(64, dtype="<i4").reshape(8, 8)
        path = self.written(tmp_path, values)
        text = json.loads(path.read_text())
        start, length = text["refs"]["a/c/0/0"][1:]
        data = bytearray((tmp_path / "data.bin").read_bytes())
        index = start + length - 4 - 64
        data[index : index + 16] = b"\xff" * 16
        import google_crc32c

        data[index + 64 : index + 68] = google_crc32c.value(bytes(data[index : index + 64])).to_bytes(
            4, "little"
        )
        (tmp_path / "data.bin").write_bytes(data)
        with dataset(path) as opened:
            explanation = of_element(opened, 0, 0)
            assert explanation.kind is VerdictKind.MISSING
            assert "inner chunk [0, 0] of shard a/c/0/0 is missing" in explanation.verdict
            assert of_element(opened, 2, 2).verdict == "This element is 18"

    def test_a_broken_index(self, tmp_path: Path) -> None:
        path = self.written(tmp_path, np.ones((8, 8), "<i4"))
        text = json.loads(path.read_text())
        start, length = text["refs"]["a/c/0/0"][1:]
        data = bytearray((tmp_path / "data.bin").read_bytes())
        data[start + length - 8] ^= 255
        (tmp_path / "data.bin").write_bytes(data)
        with dataset(path) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.FAILED_DECODE
        assert faults(explanation) == ["shard"]

    def test_a_shard_that_is_not_there(self, tmp_path: Path) -> None:
        path = self.written(tmp_path, np.ones((8, 8), "<i4"))
        (tmp_path / "data.bin").unlink()
        with dataset(path) as opened:
            explanation = of_element(opened, 0, 0)
        assert explanation.kind is VerdictKind.FAILED_READ
        assert faults(explanation) == ["answer"]

    def test_the_key_of_a_shard(self, tmp_path: Path) -> None:
        path = self.written(tmp_path, np.arange(64, dtype="<i4").reshape(8, 8))
        with dataset(path) as opened:
            explanation = of_key(opened, "a/c/1/1")
        assert explanation.kind is VerdictKind.READABLE
        assert line(explanation.step("contents"), "Values") == "36 to 63"


def test_cancelling_ends_it(server: HttpServer, remote: Path) -> None:
    server.faults["/x.bin"] = Fault("silent")
    token = CancelToken()
    with dataset(remote, server.origin) as opened:
        import threading

        threading.Timer(0.2, token.cancel).start()
        with pytest.raises(Cancelled):
            explain(opened, Question(array="/a", index=(0, 0)), token)
