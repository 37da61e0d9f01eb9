"""The requests by which buckets are written, one after another: of S3, Google Cloud Storage and Azure.

fsspec's packages give the sessions and the credentials; requests are made by their clients, without the tries
of those: `refbrowser.io.buckets.bucket` tries again.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from refbrowser.io.buckets.bucket_errors import StatusError, seconds
from refbrowser.io.buckets.filesystems import filesystem
from refbrowser.io.identity import ObjectIdentity
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.limits import LIMITS

_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")
#: Objects that are deleted at once, one request each.
_TOGETHER = 16
#: Bytes that S3 is asked to copy with one request, so that it answers in time.
_COPIED = 256 * 1024 * 1024
#: Seconds after which a store is asked whether it has copied an object.
_COPYING = 0.2


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """What a store says of an object.

    Attributes
    ----------
    tag
        Changes with every write: the ETag, or the generation.
    md5
        Of its bytes, hexadecimal; empty where the store does not say it.
    """

    key: str
    size: int
    tag: str
    md5: str = ""


@dataclass(frozen=True, slots=True)
class Got:
    """Bytes of an object, and which state of it they are of.

    Attributes
    ----------
    start
        Where they begin in the object.
    """

    data: bytes
    start: int
    identity: ObjectIdentity


#: Called before bytes are read: with where they begin and end, and the size of the object.
Check = Callable[[int, int, int], None]


class Coming:
    """The bytes of an answer while they come; any thread may look.

    Parameters
    ----------
    check
        Raises where they are not those that were asked for.
    """

    def __init__(self, check: Check = lambda *_: None) -> None:
        self.check = check
        self._before = 0
        self._stream: Any = None

    def through(self, stream: Any) -> None:
        """Count the bytes of a stream of aiohttp, which all clients read from; one may follow another."""
        self._before, self._stream = self.received, stream

    @property
    def received(self) -> int:
        """Bytes that have come."""
        return self._before + (0 if self._stream is None else self._stream.total_bytes)


@dataclass(slots=True)
class Upload:
    """An object that is sent in parts.

    Attributes
    ----------
    name
        What the store knows it by.
    parts
        What the store said of each part.
    digests
        MD5 of each part.
    sent
        Bytes of the parts.
    """

    key: str
    name: str
    size: int
    new: bool
    parts: list[str]
    digests: list[bytes]
    sent: int = 0


class BucketCalls(Protocol):
    """One request each; errors are those of the clients."""

    loop: asyncio.AbstractEventLoop

    async def put(self, key: str, data: bytes, digest: bytes, *, new: bool) -> ObjectFacts:
        """Write an object whole; where `new`, only if there is none (else status 412)."""

    async def begin(self, key: str, size: int, *, new: bool) -> Upload:
        """Begin an object of parts."""

    async def part(self, upload: Upload, data: bytes, digest: bytes, *, again: bool) -> str:
        """Send the next part; `again` where that failed before."""

    async def end(self, upload: Upload) -> ObjectFacts:
        """Make an object of its parts: it is visible from now on, whole."""

    async def abandon(self, upload: Upload) -> None:
        """Give up an object of parts."""

    async def abandoned(self, prefix: str) -> list[Upload]:
        """Return what was begun and not ended below a prefix, where the store tells it."""

    async def page(self, prefix: str, after: str) -> tuple[list[ObjectFacts], str]:
        """Return some objects below a prefix, and what the next ones are asked for with; empty at the end."""

    async def head(self, key: str) -> ObjectFacts:
        """Return what the store says of an object."""

    async def get(self, key: str, start: int, stop: int | None, coming: Coming) -> Got:
        """Return bytes of an object, all of them where `stop` is None, once they are checked."""

    async def names(self, prefix: str, after: str) -> tuple[list[str], list[str], str]:
        """Return some names below a prefix, up to the next ``/``, and what the next are asked for with.

        Those of folders, each once, and those of objects; both without the prefix.
        """

    async def copy(self, source: str, key: str, size: int) -> ObjectFacts:
        """Copy an object of the bucket to another key, within the store."""

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete objects, not more than 1,000."""


def is_confirmed(upload: Upload, facts: ObjectFacts, digest: str) -> bool:
    """Tell whether a store says of an object made of parts that it has the bytes that were sent."""
    return facts.md5 == digest or joined_digest(upload) in (facts.md5, facts.tag.strip('"'))


def joined_digest(upload: Upload) -> str:
    """Return what S3 calls an object made of parts: the MD5 of their MD5s, and how many they are."""
    joined = hashlib.md5(b"".join(upload.digests), usedforsecurity=False).hexdigest()
    return f"{joined}-{len(upload.digests)}"


def calls_of(origin: Origin, settings: ConnectionSettings) -> BucketCalls:
    """Return the requests of a bucket.

    Raises
    ------
    RefbrowserError
        `E_PROTOCOL`: the package for its scheme is not installed; `E_USAGE`: settings are missing.
    """
    system = filesystem(origin, settings)
    kinds: dict[str, Any] = {"s3": S3Calls, "gs": GoogleCalls, "abfs": AzureCalls}
    calls: BucketCalls = kinds[origin.scheme](system, origin.host)
    return calls


def _hex(digest: bytes | bytearray | str | None) -> str:
    """Return an MD5 in hexadecimal digits, given as bytes or in base64."""
    if not digest:
        return ""
    return (base64.b64decode(digest) if isinstance(digest, str) else bytes(digest)).hex()


async def _all(calls: Sequence[Any]) -> None:
    for start in range(0, len(calls), _TOGETHER):
        await asyncio.gather(*calls[start : start + _TOGETHER])


class S3Calls:
    """Amazon S3 and what speaks as it does."""

    def __init__(self, system: Any, bucket: str) -> None:
        self.loop = system.loop
        self._system = system
        self._bucket = bucket
        self._client: Any = None

    async def _ask(self, method: str, **asked: Any) -> Any:
        await self._system.set_session()
        client = await self._system.get_s3(self._bucket)
        if self._client is not client:
            from botocore.handlers import add_expect_header

            # Asking whether a body may come takes as long as sending most of them.
            client.meta.events.unregister("before-call.s3", add_expect_header)
            self._client = client
        payer = dict(self._system.req_kw)
        return await getattr(client, method)(Bucket=self._bucket, **payer, **asked)

    async def put(self, key: str, data: bytes, digest: bytes, *, new: bool) -> ObjectFacts:
        """Write an object whole; where `new`, only if there is none."""
        md5 = base64.b64encode(digest).decode()
        answer = await self._ask("put_object", Key=key, Body=data, ContentMD5=md5, **_if_none(new))
        return _s3_facts(key, len(data), answer["ETag"])

    async def begin(self, key: str, size: int, *, new: bool) -> Upload:
        """Begin an object of parts."""
        answer = await self._ask("create_multipart_upload", Key=key)
        return Upload(key, answer["UploadId"], size, new, [], [])

    async def part(self, upload: Upload, data: bytes, digest: bytes, *, again: bool) -> str:
        """Send the next part."""
        answer = await self._ask(
            "upload_part",
            Key=upload.key,
            UploadId=upload.name,
            PartNumber=len(upload.parts) + 1,
            Body=data,
            ContentMD5=base64.b64encode(digest).decode(),
        )
        return str(answer["ETag"])

    async def end(self, upload: Upload) -> ObjectFacts:
        """Make an object of its parts."""
        parts = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(upload.parts, 1)]
        answer = await self._ask(
            "complete_multipart_upload",
            Key=upload.key,
            UploadId=upload.name,
            MultipartUpload={"Parts": parts},
            **_if_none(upload.new),
        )
        return _s3_facts(upload.key, upload.sent, answer["ETag"])

    async def abandon(self, upload: Upload) -> None:
        """Give up an object of parts."""
        await self._ask("abort_multipart_upload", Key=upload.key, UploadId=upload.name)

    async def abandoned(self, prefix: str) -> list[Upload]:
        """Return what was begun and not ended below a prefix: the first thousand."""
        answer = await self._ask("list_multipart_uploads", Prefix=prefix)
        found = answer.get("Uploads") or []
        return [Upload(each["Key"], each["UploadId"], 0, False, [], []) for each in found]

    async def page(self, prefix: str, after: str) -> tuple[list[ObjectFacts], str]:
        """Return some objects below a prefix, and what the next ones are asked for with."""
        more = {"ContinuationToken": after} if after else {}
        answer = await self._ask("list_objects_v2", Prefix=prefix, **more)
        found = [_s3_facts(each["Key"], each["Size"], each["ETag"]) for each in answer.get("Contents") or []]
        return found, answer.get("NextContinuationToken") or ""

    async def head(self, key: str) -> ObjectFacts:
        """Return what the store says of an object."""
        answer = await self._ask("head_object", Key=key)
        return _s3_facts(key, answer["ContentLength"], answer["ETag"])

    async def get(self, key: str, start: int, stop: int | None, coming: Coming) -> Got:
        """Return bytes of an object."""
        asked = {} if stop is None else {"Range": f"bytes={start}-{stop - 1}"}
        answer = await self._ask("get_object", Key=key, **asked)
        async with answer["Body"] as body:
            first, last, total = _bounds(answer.get("ContentRange"), answer["ContentLength"])
            coming.check(first, last, total)
            coming.through(getattr(body, "raw_stream", body).content)
            data = bytes(await body.read())
        return Got(data, first, _identity(total, answer.get("ETag"), answer.get("LastModified")))

    async def names(self, prefix: str, after: str) -> tuple[list[str], list[str], str]:
        """Return some names below a prefix, up to the next ``/``, and what the next are asked for with."""
        more = {"ContinuationToken": after} if after else {}
        answer = await self._ask("list_objects_v2", Prefix=prefix, Delimiter="/", **more)
        folders = [each["Prefix"] for each in answer.get("CommonPrefixes") or []]
        files = [each["Key"] for each in answer.get("Contents") or []]
        return *_below(prefix, folders, files), answer.get("NextContinuationToken") or ""

    async def copy(self, source: str, key: str, size: int) -> ObjectFacts:
        """Copy an object of the bucket to another key: a large one in parts."""
        origin = {"Bucket": self._bucket, "Key": source}
        if size <= _COPIED:
            answer = await self._ask("copy_object", Key=key, CopySource=origin)
            return _s3_facts(key, size, answer["CopyObjectResult"]["ETag"])
        upload = await self.begin(key, size, new=False)
        try:
            for start in range(0, size, _COPIED):
                upload.sent = min(start + _COPIED, size)
                answer = await self._ask(
                    "upload_part_copy",
                    Key=key,
                    UploadId=upload.name,
                    PartNumber=len(upload.parts) + 1,
                    CopySource=origin,
                    CopySourceRange=f"bytes={start}-{upload.sent - 1}",
                )
                upload.parts.append(answer["CopyPartResult"]["ETag"])
            return await self.end(upload)
        except BaseException:
            # What went wrong is what is told: there may be nothing left to be given up.
            with contextlib.suppress(Exception):
                await self.abandon(upload)
            raise

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete objects."""
        answer = await self._ask(
            "delete_objects", Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
        )
        for failed in answer.get("Errors") or []:
            status = 503 if failed.get("Code") in ("InternalError", "SlowDown") else 403
            raise StatusError(status, f"{failed.get('Code')}: {failed.get('Message')}")


def _identity(total: int, tag: str | None, modified: Any) -> ObjectIdentity:
    """Return the state of an object: by its tag, where it has one.

    The time is of whole seconds, in which an object may be written twice. Mirrors, whose tags differ, are not
    among object stores.
    """
    if tag:
        return ObjectIdentity(total, tag.strip('"'), changed=modified)
    return ObjectIdentity(total, None, str(modified) if modified else None)


def _bounds(text: str | None, length: int) -> tuple[int, int, int]:
    """Return where the bytes of an answer begin and end, and the size of the object.

    Raises
    ------
    StatusError
        The answer has a Content-Range that is none.
    """
    if text is None:
        return 0, length, length
    match = _RANGE.fullmatch(text)
    if match is None:
        raise StatusError(206, f"the answer has the Content-Range {text!r}")
    return int(match[1]), int(match[2]) + 1, int(match[3])


def _below(prefix: str, folders: Sequence[str], files: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names without the prefix; an object that is called as it is has none, nor has one in ``//``."""
    names = [folder.removeprefix(prefix).rstrip("/") for folder in folders]
    others = [file.removeprefix(prefix) for file in files]
    return [name for name in names if name], [name for name in others if name]


def _s3_facts(key: str, size: int, tag: str) -> ObjectFacts:
    plain = tag.strip('"')
    return ObjectFacts(key, int(size), tag, plain if len(plain) == 32 else "")


def _if_none(new: bool) -> dict[str, str]:
    return {"IfNoneMatch": "*"} if new else {}


class GoogleCalls:
    """Google Cloud Storage, its JSON interface."""

    def __init__(self, system: Any, bucket: str) -> None:
        self.loop = system.loop
        self._system = system
        self._bucket = bucket

    async def _ask(
        self,
        method: str,
        url: str,
        *,
        data: bytes | None = None,
        headers: Any = None,
        check: Callable[[Any], None] | None = None,
        **params: Any,
    ) -> tuple[int, Any, bytes]:
        system = self._system
        await system._set_session()
        async with system.session.request(
            method,
            url,
            params=system._get_params(params),
            headers=system._get_headers(headers),
            data=data,
            allow_redirects=False,
            timeout=system.requests_timeout,
        ) as answer:
            if check is not None and answer.status < 300:
                check(answer)
            body = await answer.read()
            if answer.status >= 400 or 300 <= answer.status < 308:
                said = _said(body)
                # It has one code for both.
                code = "NoSuchBucket" if answer.status == 404 and "bucket does not exist" in said else ""
                raise StatusError(answer.status, said, seconds(answer.headers.get("Retry-After")), code)
            return answer.status, answer.headers, body

    def _url(self, key: str | None = None, way: str = "") -> str:
        name = "" if key is None else f"/{quote(key, safe='')}"
        return f"{self._system._location}{way}/storage/v1/b/{quote(self._bucket)}/o{name}"

    async def put(self, key: str, data: bytes, digest: bytes, *, new: bool) -> ObjectFacts:
        """Write an object whole; where `new`, only if there is none."""
        headers = {"Content-Type": "application/octet-stream"}
        asked: dict[str, Any] = {"uploadType": "media", "name": key}
        if new:
            asked["ifGenerationMatch"] = "0"
        _, _, body = await self._ask("POST", self._url(way="/upload"), data=data, headers=headers, **asked)
        return _google_facts(_json(body))

    async def begin(self, key: str, size: int, *, new: bool) -> Upload:
        """Begin an object of parts."""
        headers = {
            "X-Upload-Content-Type": "application/octet-stream",
            "X-Upload-Content-Length": str(size),
        }
        asked: dict[str, Any] = {"uploadType": "resumable", "name": key}
        if new:
            asked["ifGenerationMatch"] = "0"
        _, answer, _ = await self._ask("POST", self._url(way="/upload"), headers=headers, **asked)
        return Upload(key, answer["Location"], size, new, [], [])

    async def part(self, upload: Upload, data: bytes, digest: bytes, *, again: bool) -> str:
        """Send the next part, or what the store does not have of it; the last one ends the object."""
        start = upload.sent
        if again:
            headers = {"Content-Range": f"bytes */{upload.size}"}
            status, answer, body = await self._ask("PUT", upload.name, headers=headers)
            if status != 308:
                return body.decode()
            arrived = int(answer["Range"].rpartition("-")[2]) + 1 if "Range" in answer else 0
            data, start = data[max(0, arrived - start) :], max(start, arrived)
            if not data:
                return ""
        stop = start + len(data)
        headers = {"Content-Range": f"bytes {start}-{stop - 1}/{upload.size}"}
        status, answer, body = await self._ask("PUT", upload.name, data=data, headers=headers)
        if status == 308:
            arrived = int(answer["Range"].rpartition("-")[2]) + 1 if "Range" in answer else 0
            if arrived < stop:
                raise StatusError(503, f"{stop - arrived} bytes of a part did not arrive")
        return body.decode() if status != 308 else ""

    async def end(self, upload: Upload) -> ObjectFacts:
        """Return what the store said of the object with its last part."""
        return _google_facts(_json(upload.parts[-1].encode()))

    async def abandon(self, upload: Upload) -> None:
        """Give up an object of parts."""
        try:
            await self._ask("DELETE", upload.name)
        except StatusError as error:
            if error.status != 499:  # which says that it is given up
                raise

    async def abandoned(self, prefix: str) -> list[Upload]:
        """Return nothing: the store does not tell, and forgets them within a week."""
        return []

    async def page(self, prefix: str, after: str) -> tuple[list[ObjectFacts], str]:
        """Return some objects below a prefix, and what the next ones are asked for with."""
        more: dict[str, Any] = {"pageToken": after} if after else {}
        _, _, body = await self._ask("GET", self._url(), prefix=prefix, **more)
        answer = _json(body)
        return [_google_facts(each) for each in answer.get("items", [])], answer.get("nextPageToken") or ""

    async def head(self, key: str) -> ObjectFacts:
        """Return what the store says of an object."""
        return _google_facts(_json((await self._ask("GET", self._url(key)))[2]))

    async def get(self, key: str, start: int, stop: int | None, coming: Coming) -> Got:
        """Return bytes of an object."""
        headers = {"Accept-Encoding": "identity"}
        if stop is not None:
            headers["Range"] = f"bytes={start}-{stop - 1}"
        bounds = (0, 0, 0)

        def see(answer: Any) -> None:
            nonlocal bounds
            if answer.headers.get("Content-Encoding", "identity") != "identity":
                raise StatusError(answer.status, "the store encodes the bytes, though identity was requested")
            bounds = _bounds(answer.headers.get("Content-Range"), answer.content_length or 0)
            coming.check(*bounds)
            coming.through(answer.content)

        _, answer, data = await self._ask("GET", self._url(key), headers=headers, alt="media", check=see)
        tag = answer.get("x-goog-generation") or answer.get("ETag")
        return Got(data, bounds[0], _identity(bounds[2], tag, answer.get("Last-Modified")))

    async def names(self, prefix: str, after: str) -> tuple[list[str], list[str], str]:
        """Return some names below a prefix, up to the next ``/``, and what the next are asked for with."""
        more: dict[str, Any] = {"pageToken": after} if after else {}
        _, _, body = await self._ask("GET", self._url(), prefix=prefix, delimiter="/", **more)
        answer = _json(body)
        files = [each["name"] for each in answer.get("items", [])]
        return *_below(prefix, answer.get("prefixes", []), files), answer.get("nextPageToken") or ""

    async def copy(self, source: str, key: str, size: int) -> ObjectFacts:
        """Copy an object of the bucket to another key; of a large one each request copies some."""
        more: dict[str, Any] = {}
        while True:
            way = f"/rewriteTo/b/{quote(self._bucket)}/o/{quote(key, safe='')}"
            _, _, body = await self._ask("POST", self._url(source) + way, **more)
            answer = _json(body)
            if answer["done"]:
                return _google_facts(answer["resource"])
            more["rewriteToken"] = answer["rewriteToken"]

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete objects."""
        await _all([self._delete(key) for key in keys])

    async def _delete(self, key: str) -> None:
        try:
            await self._ask("DELETE", self._url(key))
        except StatusError as error:
            if error.status != 404:
                raise


def _json(body: bytes) -> Any:
    import json

    return json.loads(body)


def _said(body: bytes) -> str:
    try:
        found = _json(body)["error"]
        return str(found["message"] if isinstance(found, dict) else found)
    except (ValueError, LookupError, TypeError):
        return body[:500].decode("utf-8", "replace")


def _google_facts(found: Any) -> ObjectFacts:
    tag = str(found.get("generation") or found.get("etag") or "")
    return ObjectFacts(found["name"], int(found.get("size") or 0), tag, _hex(found.get("md5Hash")))


#: Each request once, to where it was sent, within the times of safety.md.
_ONCE: dict[str, Any] = {
    "retry_total": 0,
    "permit_redirects": False,
    "connection_timeout": LIMITS.http_connect,
    "read_timeout": LIMITS.http_first_byte,
}


class AzureCalls:
    """Blobs of Azure."""

    def __init__(self, system: Any, bucket: str) -> None:
        self.loop = system.loop
        self._container = system.service_client.get_container_client(bucket.partition("@")[0])

    def _blob(self, key: str) -> Any:
        return self._container.get_blob_client(key)

    async def put(self, key: str, data: bytes, digest: bytes, *, new: bool) -> ObjectFacts:
        """Write an object whole; where `new`, only if there is none."""
        answer = await self._blob(key).upload_blob(
            data, length=len(data), overwrite=not new, validate_content=True, **_ONCE
        )
        return ObjectFacts(key, len(data), str(answer["etag"]), _hex(answer.get("content_md5")))

    async def begin(self, key: str, size: int, *, new: bool) -> Upload:
        """Begin an object of parts: the store knows of it with its first one."""
        return Upload(key, "", size, new, [], [])

    async def part(self, upload: Upload, data: bytes, digest: bytes, *, again: bool) -> str:
        """Send the next part, whose MD5 the store compares."""
        name = base64.b64encode(b"%08d" % len(upload.parts)).decode()
        await self._blob(upload.key).stage_block(name, data, length=len(data), validate_content=True, **_ONCE)
        return name

    async def end(self, upload: Upload) -> ObjectFacts:
        """Make an object of its parts."""
        from azure.core import MatchConditions
        from azure.storage.blob import BlobBlock

        blocks = [BlobBlock(name) for name in upload.parts]
        condition = {"match_condition": MatchConditions.IfMissing} if upload.new else {}
        answer = await self._blob(upload.key).commit_block_list(blocks, **_ONCE, **condition)
        # The store has compared the MD5 of each part.
        return ObjectFacts(upload.key, upload.sent, str(answer["etag"]), joined_digest(upload))

    async def abandon(self, upload: Upload) -> None:
        """Do nothing: parts that nothing was made of are forgotten within a week."""

    async def abandoned(self, prefix: str) -> list[Upload]:
        """Return nothing: the store forgets them within a week."""
        return []

    async def page(self, prefix: str, after: str) -> tuple[list[ObjectFacts], str]:
        """Return some objects below a prefix, and what the next ones are asked for with."""
        pages = self._container.list_blobs(name_starts_with=prefix, **_ONCE).by_page(after or None)
        found = [_azure_facts(each) async for each in await anext(pages)]
        return found, pages.continuation_token or ""

    async def head(self, key: str) -> ObjectFacts:
        """Return what the store says of an object."""
        return _azure_facts(await self._blob(key).get_blob_properties(**_ONCE))

    async def get(self, key: str, start: int, stop: int | None, coming: Coming) -> Got:
        """Return bytes of an object."""

        def see(answer: Any) -> None:
            _compare_range(answer)
            coming.through(answer.http_response.internal_response.content)

        # An empty blob has no bytes from 0 on.
        asked = {} if stop is None else {"offset": start, "length": stop - start}
        answer = await self._blob(key).download_blob(**asked, raw_response_hook=see, **_ONCE)
        found = answer.properties
        first, last, total = (0, 0, 0) if found.size == 0 else _bounds(found.content_range, found.size)
        coming.check(first, last, total)
        data = bytes(await answer.readall())
        return Got(data, first, _identity(total, found.etag, found.last_modified))

    async def names(self, prefix: str, after: str) -> tuple[list[str], list[str], str]:
        """Return some names below a prefix, up to the next ``/``, and what the next are asked for with."""
        walk = self._container.walk_blobs(name_starts_with=prefix, delimiter="/", **_ONCE)
        pages = walk.by_page(after or None)
        found = [each.name async for each in await anext(pages)]
        folders, files = [[name for name in found if name.endswith("/") is kind] for kind in (True, False)]
        return *_below(prefix, folders, files), pages.continuation_token or ""

    async def copy(self, source: str, key: str, size: int) -> ObjectFacts:
        """Copy an object of the container to another key; the store may go on with it after its answer."""
        blob = self._blob(key)
        status = (await blob.start_copy_from_url(self._blob(source).url, **_ONCE))["copy_status"]
        while status == "pending":
            await asyncio.sleep(_COPYING)
            status = (await blob.get_blob_properties(**_ONCE)).copy.status
        if status != "success":
            raise StatusError(500, f"the copy of an object ended with {status}")
        return await self.head(key)

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete objects."""
        await _all([self._delete(key) for key in keys])

    async def _delete(self, key: str) -> None:
        from azure.core.exceptions import ResourceNotFoundError

        try:
            await self._blob(key).delete_blob(**_ONCE)
        except ResourceNotFoundError:
            return


def _compare_range(answer: Any) -> None:
    """Compare the range of an answer with that asked for, as Azure's client does not.

    Raises
    ------
    StatusError
        It is another one.
    """
    asked = answer.http_request.headers.get("x-ms-range", "")
    match = re.fullmatch(r"bytes=(\d+)-(\d*)", asked)
    if answer.http_response.status_code != 206 or match is None:
        return
    text = answer.http_response.headers.get("Content-Range", "")
    first, last, total = _bounds(text, 0)
    stop = min(int(match[2]) + 1, total) if match[2] else total
    if (first, last) != (int(match[1]), stop):
        raise StatusError(206, f"{asked} were requested, the answer holds {text}")


def _azure_facts(found: Any) -> ObjectFacts:
    digest = found.content_settings.content_md5 if found.content_settings else None
    return ObjectFacts(found.name, int(found.size), str(found.etag), _hex(digest))
