"""JSON representations with a revision: their entity tags, and the preconditions of their changes.

An entity tag is ``REVISION-DIGEST``. The revision decides whether a change is based on the current
state. The digest also covers members that change without a revision, such as counters, so that a client
never keeps a stale copy: ADR 0108.
"""

import re
from hashlib import blake2b
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from flask import request
from marshmallow import Schema

from strongroom.foundation.errors import PreconditionFailed
from strongroom.web.http.access import SAFE_METHODS
from strongroom.web.http.conditions import Validators, has_conditions, is_unchanged
from strongroom.web.http.request import current_environ, header
from strongroom.web.http.response import JSON_TYPE, HeaderItems, Response, not_modified

_DIGEST_BYTES: Final = 8
_REVISION: Final = re.compile("[0-9]{1,18}")


class JsonRepresentation(NamedTuple):
    """A resource as JSON.

    Args:
        text: the JSON text.
        revision: the revision of the resource.
        tags: further entity tags that If-Match accepts, such as the tag of a file's content.
    """

    text: str
    revision: int
    tags: tuple[str, ...] = ()

    def response(self, status: int, headers: HeaderItems) -> Response:
        """Return the response with the representation; 304 if the client has it (RFC 9110, 15.4.5).

        Raises:
            PreconditionFailed: If-Match of a read is false.
        """
        content = self.text.encode()
        digest = blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
        tag = f"{self.revision}-{digest}"
        items = (*(dict(headers).items() if headers else ()), ("ETag", f'"{tag}"'))
        environ = current_environ()
        # Hot: most reads have no condition, see ADR 0076.
        if not has_conditions(environ) or environ["REQUEST_METHOD"] not in SAFE_METHODS:
            return Response(content + b"\n", status, (JSON_TYPE, *items))
        if is_unchanged(Validators(tag, None, (str(self.revision), *self.tags))):
            return not_modified(items)
        return Response(content + b"\n", status, (JSON_TYPE, *items))

    def require_preconditions(self) -> int | None:
        """Check the preconditions of a change, and return the revision that the change must compare.

        Returns:
            the revision, if the request states tags; ``None`` accepts any.

        Raises:
            PreconditionFailed: If-Match or If-None-Match is false (RFC 9110, sections 13.1.1, 13.1.2).
        """
        known = {str(self.revision), *self.tags}
        excluded = request.if_none_match
        if excluded.star_tag or known & _revisions(excluded.as_set(include_weak=True)):
            raise PreconditionFailed
        if header("If-Match") is None or request.if_match.star_tag:
            return None
        if not known & _revisions(request.if_match.as_set()):
            raise PreconditionFailed
        return self.revision


def has_revision(schema: type[Schema] | None) -> bool:
    """Return whether a schema describes a representation with a revision."""
    return schema is not None and "revision" in schema._declared_fields  # noqa: SLF001  no public access


def has_preconditions() -> bool:
    """Return whether the request has preconditions that apply to changes."""
    environ = current_environ()
    return "HTTP_IF_MATCH" in environ or "HTTP_IF_NONE_MATCH" in environ


def stated_revision() -> int | None:
    """Return the revision in If-Match, for a change by a caller who may not read the resource.

    Raises:
        PreconditionFailed: the header names several revisions, or none, or there is If-None-Match.
    """
    if header("If-None-Match") is not None:
        raise PreconditionFailed
    if request.if_match.star_tag:
        return None
    revisions = [text for text in _revisions(request.if_match.as_set()) if _REVISION.fullmatch(text)]
    if len(revisions) != 1:
        raise PreconditionFailed
    return int(revisions[0])


def refuse_preconditions() -> None:
    """Check the preconditions of a change of a resource without entity tags, which no tag matches.

    Raises:
        PreconditionFailed: If-Match names tags, or If-None-Match is ``*``, which excludes all resources.
    """
    names_tags = header("If-Match") is not None and not request.if_match.star_tag
    if names_tags or request.if_none_match.star_tag:
        raise PreconditionFailed


def is_conflict(error: Any) -> bool:
    """Return whether an error may be due to a concurrent change."""
    return bool(error.status == HTTPStatus.CONFLICT)


def _revisions(tags: Any) -> set[str]:
    """Return the revisions of entity tags; other tags, such as the digest of a file, as they are."""
    return {tag.partition("-")[0] for tag in tags}
