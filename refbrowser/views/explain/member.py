"""What an explanation tells of a chunk that is a member of a zip archive."""

from __future__ import annotations

from refbrowser.engine.found_members import find_member
from refbrowser.errors import RefbrowserError
from refbrowser.io.access import Access
from refbrowser.io.chained import is_chained, split_chained
from refbrowser.io.zip_directory import ZipMember
from refbrowser.io.zip_methods import METHODS
from refbrowser.model.reference import ByteRange, Reference, WholeFile
from refbrowser.views.explain.explanation import Line, Step
from refbrowser.views.explain.texts import bytes_text, plain


def member_step(reference: Reference, access: Access) -> Step | None:
    """Return where the bytes of a reference lie in an archive and how they become the stored ones.

    None where the reference names no member that can be read, or one of an archive that was not looked into.
    """
    if not isinstance(reference, WholeFile | ByteRange) or not is_chained(reference.url):
        return None
    try:
        archive = access.locate(split_chained(reference.url).archive).url
        directory = access.memory.archives.known(archive)
        if directory is None:
            return None
        member = find_member(reference.url, directory, access).member
    except RefbrowserError:
        # Why it cannot be read was told with the answer.
        return None
    return Step(
        name="member",
        title="The zip member",
        lines=[
            Line(plain(member.name), "Member"),
            Line(f"bytes {member.start} to {member.stop} of {plain(archive)}", "With its header"),
            Line(_how(member), "Kept"),
            Line(f"{member.crc:08x}, compared whenever the member is read whole", "CRC-32"),
        ],
        facts={
            "member": member.name,
            "archive": archive,
            "start": member.start,
            "stop": member.stop,
            "method": METHODS[member.method],
            "compressed_size": member.compressed,
            "size": member.size,
            "crc32": f"{member.crc:08x}",
        },
    )


def _how(member: ZipMember) -> str:
    if not member.is_packed:
        return f"as it is, {bytes_text(member.size)}"
    how = METHODS[member.method]
    return f"packed with {how}: {bytes_text(member.compressed)} unpack to {bytes_text(member.size)}"
