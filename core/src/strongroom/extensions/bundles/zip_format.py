"""Headers and end records of a ZIP archive (APPNOTE 6.3.10).

Entries are stored, not compressed. Their sizes and CRC-32 are known in advance, so all headers are, too.
Zip64 is used only where a number exceeds its field. Names are UTF-8 (general purpose flag, bit 11).
"""

import struct
from datetime import UTC, datetime
from typing import Final, NamedTuple

MAX_PATH_BYTES: Final = 0xFFFF
"""Maximum length of an entry's path, in bytes of UTF-8."""

_MAX_32: Final = 0xFFFFFFFF
_MAX_16: Final = 0xFFFF
_UTF8: Final = 0x800
_STORED: Final = 0
# Versions needed to extract: 2.0 for folders, 4.5 for Zip64 (APPNOTE 4.4.3).
_PLAIN_VERSION: Final = 20
_ZIP64_VERSION: Final = 45
_MADE_ON_UNIX: Final = 3 << 8
# The Unix mode is in the upper 16 bits; 0x10 is the DOS flag of folders.
_FILE_ATTRIBUTES: Final = 0o100644 << 16
_FOLDER_ATTRIBUTES: Final = 0o40755 << 16 | 0x10

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_ZIP64_END = struct.Struct("<4sQ2H2I4Q")
_ZIP64_LOCATOR = struct.Struct("<4sIQI")
_END = struct.Struct("<4s4H2IH")
_TIMESTAMP = struct.Struct("<2HBI")


class Entry(NamedTuple):
    """An entry of an archive: a file, or a folder, whose path ends with a slash.

    Args:
        path: the path in the archive, in UTF-8.
        size: in bytes.
        crc32: CRC-32 of the content.
        modified: seconds since the Unix epoch.
    """

    path: bytes
    size: int
    crc32: int
    modified: int

    @property
    def is_folder(self) -> bool:
        """Whether the entry is a folder."""
        return self.path.endswith(b"/")


def local_length(entry: Entry) -> int:
    """Return the length of :func:`local_header` in bytes, without building it."""
    zip64 = 20 if entry.size >= _MAX_32 else 0
    return _LOCAL.size + len(entry.path) + zip64 + _TIMESTAMP.size


def central_length(entry: Entry, offset: int) -> int:
    """Return the length of :func:`central_header` in bytes, without building it."""
    wide = 16 * (entry.size >= _MAX_32) + 8 * (offset >= _MAX_32)
    return _CENTRAL.size + len(entry.path) + (4 + wide if wide else 0) + _TIMESTAMP.size


def local_header(entry: Entry) -> bytes:
    """Return the local file header, which precedes the content of an entry."""
    large = entry.size >= _MAX_32
    # The Zip64 extra field of a local header must contain both sizes (APPNOTE 4.5.3).
    extra = struct.pack("<2H2Q", 1, 16, entry.size, entry.size) if large else b""
    extra += _timestamp(entry)
    size = _MAX_32 if large else entry.size
    numbers = (*_dos_time(entry.modified), entry.crc32, size, size, len(entry.path), len(extra))
    version = _ZIP64_VERSION if large else _PLAIN_VERSION
    return _LOCAL.pack(b"PK\3\4", version, _UTF8, _STORED, *numbers) + entry.path + extra


def central_header(entry: Entry, offset: int) -> bytes:
    """Return the central directory header of an entry whose local header starts at ``offset``."""
    wide = [entry.size, entry.size] if entry.size >= _MAX_32 else []
    wide += [offset] if offset >= _MAX_32 else []
    extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
    extra += _timestamp(entry)
    size = min(entry.size, _MAX_32)
    version = _ZIP64_VERSION if wide else _PLAIN_VERSION
    numbers = (*_dos_time(entry.modified), entry.crc32, size, size, len(entry.path), len(extra))
    attributes = _FOLDER_ATTRIBUTES if entry.is_folder else _FILE_ATTRIBUTES
    rest = (0, 0, 0, attributes, min(offset, _MAX_32))
    made_by = _MADE_ON_UNIX | version
    head = _CENTRAL.pack(b"PK\1\2", made_by, version, _UTF8, _STORED, *numbers, *rest)
    return head + entry.path + extra


def end_records(count: int, start: int, size: int) -> bytes:
    """Return the end records of an archive, with the Zip64 records only if a number needs them."""
    zip64 = b""
    if count >= _MAX_16 or start >= _MAX_32 or size >= _MAX_32:
        version = _ZIP64_VERSION
        numbers = (version | _MADE_ON_UNIX, version, 0, 0, count, count, size, start)
        # The size field excludes itself and the signature (APPNOTE 4.3.14).
        zip64 = _ZIP64_END.pack(b"PK\6\6", _ZIP64_END.size - 12, *numbers)
        zip64 += _ZIP64_LOCATOR.pack(b"PK\6\7", 0, start + size, 1)
    fits = min(count, _MAX_16)
    return zip64 + _END.pack(b"PK\5\6", 0, 0, fits, fits, min(size, _MAX_32), min(start, _MAX_32), 0)


def _timestamp(entry: Entry) -> bytes:
    """Return the extended timestamp field, in UTC; the DOS time in the headers has no time zone."""
    return _TIMESTAMP.pack(0x5455, 5, 1, min(max(entry.modified, 0), 2**31 - 1))


def _dos_time(modified: int) -> tuple[int, int]:
    # Clamped to the range of the format: 1980-01-01 to 2107-12-31.
    moment = datetime.fromtimestamp(min(max(modified, 315532800), 4354819198), tz=UTC)
    time = moment.hour << 11 | moment.minute << 5 | moment.second // 2
    return time, moment.year - 1980 << 9 | moment.month << 5 | moment.day
