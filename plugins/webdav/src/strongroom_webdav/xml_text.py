"""XML: names of elements, texts, and documents of requests."""

import re
from http import HTTPStatus
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape as _escape

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from strongroom_webdav.errors import DavError

DECLARATION: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
DAV: Final = "DAV:"
OWNCLOUD: Final = "http://owncloud.org/ns"

_NAME: Final = re.compile(r"(?:\{(?P<namespace>[^}]*)\})?(?P<local>.+)", re.DOTALL)
_UNDECLARED: Final = re.compile(rb"""xmlns:[^\s=>/]+\s*=\s*(?:""|'')""")
_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: str) -> str:
    """Return a text as the content of an element or attribute; what XML forbids becomes U+FFFD."""
    return _escape(_FORBIDDEN.sub("\ufffd", text), {'"': "&quot;"})


def element(name: str, content: str = "", language: str = "") -> str:
    """Return an element.

    Args:
        name: the name with its namespace, as ``{DAV:}getetag``.
        content: XML.
        language: the value of ``xml:lang``, if there is one.
    """
    match: Any = _NAME.fullmatch(name)
    namespace, local = match["namespace"] or "", match["local"]
    attribute = f' xml:lang="{escape(language)}"' if language else ""
    if namespace == DAV:
        return f"<D:{local}{attribute}>{content}</D:{local}>" if content else f"<D:{local}{attribute}/>"
    if not namespace:
        return f'<{local} xmlns=""{attribute}>{content}</{local}>'
    return f'<x:{local} xmlns:x="{escape(namespace)}"{attribute}>{content}</x:{local}>'


def parse(body: bytes) -> Element:
    """Return the root of a document that a client has sent.

    Raises:
        DavError: it is malformed, or declares entities or a document type.
    """
    # Namespaces in XML 1.0, section 5: a prefix cannot be undeclared; the parser accepts it.
    if _UNDECLARED.search(body):
        raise DavError(HTTPStatus.BAD_REQUEST, "The XML declares a prefix without a namespace.")
    try:
        root: Element = fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise DavError(HTTPStatus.BAD_REQUEST, "The body is not well-formed XML.") from error
    return root
