"""Dead properties, which clients set, and times of modification: attributes of the files."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from xml.etree.ElementTree import Element, tostring

from strongroom.plugin_api.files import AttributesOfContent, FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom_webdav.errors import DavError
from strongroom_webdav.requests import DavRequest
from strongroom_webdav.resources import Resource
from strongroom_webdav.xml_text import element, escape

_MTIME: Final = "mtime"
"""The attribute with the time that a client has given to a content: seconds, and the SHA-256."""

_LATEST: Final = 253_402_300_799
"""The last second of the year 9999."""

_LANGUAGE: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_LANGUAGE_TAG: Final = re.compile(r"[A-Za-z0-9-]{1,63}")


def make_value(item: Element, language: str | None) -> str:
    """Return the value of the attribute that stores a property: its language and its content.

    Args:
        language: the ``xml:lang`` of the elements around it.
    """
    language = item.get(_LANGUAGE, language) or ""
    content = escape(item.text or "") + "".join(tostring(child, "unicode") for child in item)
    return f"{language if _LANGUAGE_TAG.fullmatch(language) else ''}\n{content}"


def get_language(item: Element, around: str | None = None) -> str | None:
    """Return the ``xml:lang`` of an element."""
    return item.get(_LANGUAGE, around)


def name_attribute(property_name: str) -> str:
    """Return the name of the attribute that stores a property."""
    # Each name has a namespace, perhaps an empty one, and so differs from the plugin's own attributes.
    return property_name if property_name.startswith("{") else f"{{}}{property_name}"


def read_dead_properties(resource: Resource) -> Mapping[str, str]:
    """Return the elements of the dead properties of a resource, by their names."""
    if resource.file is None:
        return {}
    return {
        name.removeprefix("{}"): _make_element(name.removeprefix("{}"), value)
        for name, value in resource.file.attributes.items()
        if name.startswith("{")
    }


def _make_element(name: str, value: str) -> str:
    language, _, content = value.partition("\n")
    return element(name, content, language)


def read_modification_time(file: FileInfo) -> int | None:
    """Return the time that a client has given to the present content, in seconds, or ``None``."""
    seconds, _, checksum = file.attributes.get(_MTIME, "").partition(":")
    return int(seconds) if seconds and checksum == (file.checksum or "") else None


def parse_modification_time(request: DavRequest) -> int | None:
    """Return the time of the header ``X-OC-Mtime``, in seconds, or ``None`` without it.

    Raises:
        DavError: it is malformed.
    """
    sent = request.header("X-OC-Mtime")
    if sent is None:
        return None
    whole = sent.strip().partition(".")[0]
    if not (whole.isascii() and whole.isdecimal() and len(whole) <= len(str(_LATEST))):
        raise DavError(HTTPStatus.BAD_REQUEST, "X-OC-Mtime must be seconds since 1970.")
    return min(int(whole), _LATEST)


def make_modification_time(seconds: int | None) -> AttributesOfContent | None:
    """Return the attributes of a content that have the time that a client has given to it, if any."""
    return None if seconds is None else lambda checksum: {_MTIME: f"{seconds}:{checksum}"}


def copy_attributes(host: HostAPI, source: FileInfo, target: FileInfo) -> None:
    """Give a file or folder that a COPY has changed the attributes of the source.

    Args:
        source: with its attributes.
        target: likewise.
    """
    removed = dict.fromkeys(target.attributes.keys() - source.attributes.keys())
    changes: Mapping[str, str | None] = {**removed, **source.attributes}
    if changes != target.attributes:
        host.files.change_attributes(target.tenant_id, target.id, changes)
