"""PROPPATCH (RFC 4918, section 9.2)."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Final
from xml.etree.ElementTree import Element

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_webdav.changing import require_file
from strongroom_webdav.dead_properties import get_language, make_value, name_attribute
from strongroom_webdav.errors import DavError
from strongroom_webdav.properties import Properties, make_href, make_propstat
from strongroom_webdav.replies import Reply, multistatus
from strongroom_webdav.requests import DavRequest
from strongroom_webdav.resources import Resource
from strongroom_webdav.xml_text import DAV, element

_VALIDATION_FAILED: Final = "error.validation-failed"
_PROTECTED: Final = "<D:cannot-modify-protected-property/>"


def change_properties(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Set and remove dead properties: all of them, or none."""
    changes = _parse_changes(request.read_xml())
    file = require_file(resource)
    live = {*Properties(host, lambda _: None).names}
    href = make_href(request.root, resource) if resource is not None else ""
    if refused := live & changes.keys():
        rest = make_propstat(map(element, changes.keys() - refused), HTTPStatus.FAILED_DEPENDENCY)
        stats = make_propstat(map(element, refused), HTTPStatus.FORBIDDEN, _PROTECTED)
        return _answer(href, stats + (rest if changes.keys() - refused else ""))
    attributes = {name_attribute(name): value for name, value in changes.items()}
    status = HTTPStatus.OK
    try:
        host.files.change_attributes(file.tenant_id, file.id, attributes)
    except ApiError as error:
        if error.code != _VALIDATION_FAILED:
            raise
        # There are too many properties, or too long ones.
        status = HTTPStatus.INSUFFICIENT_STORAGE
    return _answer(href, make_propstat(map(element, changes), status))


def _answer(href: str, stats: str) -> Reply:
    response = f"<D:response><D:href>{href}</D:href>{stats}</D:response>\n"
    return multistatus(iter([response]))


def _parse_changes(root: Element | None) -> dict[str, str | None]:
    """Return the values by the names of properties; ``None`` removes a property.

    The instructions are in the order of the document, so the last one about a property counts.

    Raises:
        DavError: the body has another form.
    """
    if root is None or root.tag != f"{{{DAV}}}propertyupdate":
        raise DavError(HTTPStatus.BAD_REQUEST, "The body must be propertyupdate.")
    changes = dict(_instructions(root))
    if not changes:
        raise DavError(HTTPStatus.BAD_REQUEST, "The body must set or remove a property.")
    return changes


def _instructions(root: Element) -> Iterator[tuple[str, str | None]]:
    for instruction in root:
        for prop in instruction.findall(f"{{{DAV}}}prop"):
            language = get_language(prop, get_language(instruction, get_language(root)))
            for item in prop:
                if instruction.tag == f"{{{DAV}}}set":
                    yield item.tag, make_value(item, language)
                elif instruction.tag == f"{{{DAV}}}remove":
                    yield item.tag, None
