"""Which operations change a representation with a revision, found in the routes of core and plugins.

A change of a representation is an operation on its path, or one on a path below that returns the same
schema, such as ``PUT .../directory``. The platform evaluates If-Match and If-None-Match before it calls
the view (RFC 9110, section 13.2), and the view gets the revision to compare in its own transaction, so
that no other change can come between: :meth:`Operation.link`. All other changing operations have no
entity tag, so If-Match with tags is false.
"""

from collections.abc import Mapping
from http import HTTPStatus
from inspect import signature

from flask import Flask
from werkzeug.routing import Rule

from strongroom.foundation.plugins.plugin import PluginError
from strongroom.web.http.routing import Operation

Reader = tuple[Rule, Operation]


def link_changes(app: Flask) -> None:
    """Link each change of a representation with a revision to the operation that reads it.

    Raises:
        PluginError: the view of such a change has no parameter ``revision``.
    """
    rules = [
        (rule, view)
        for rule in app.url_map.iter_rules()
        if isinstance(view := app.view_functions[rule.endpoint], Operation)
    ]
    readers = {
        rule.rule: (rule, view)
        for rule, view in rules
        if "GET" in (rule.methods or ()) and view.has_revision
    }
    for rule, operation in rules:
        if rule.methods and "GET" in rule.methods:
            continue
        if (reader := _find(readers, rule, operation)) is not None:
            _require_parameter(rule, operation)
            operation.link(reader[1], reader[0].arguments)


def _find(readers: Mapping[str, Reader], rule: Rule, operation: Operation) -> Reader | None:
    """Return the operation that reads what another one changes, or ``None``."""
    path, description = rule.rule, operation.description
    if path in readers or description.status == HTTPStatus.CREATED:
        return readers.get(path)
    while path := path.rpartition("/")[0]:
        reader = readers.get(path)
        if reader is not None and reader[1].description.returns is description.returns:
            return reader
    return None


def _require_parameter(rule: Rule, operation: Operation) -> None:
    if "revision" not in signature(operation.view).parameters:
        method = min((rule.methods or set()) - {"OPTIONS"})
        raise PluginError(
            f"{operation.owner}: {method} {rule.rule} changes a representation with a revision; "
            f"let its view {operation.__name__} take the keyword revision, and compare it"
        )
