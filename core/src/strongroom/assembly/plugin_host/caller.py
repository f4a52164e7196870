"""Calls of services as the user that a plugin acts as."""

from dataclasses import dataclass
from typing import Any, TypeVar

from strongroom.assembly.plugin_host.acting import ActingUser
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.errors import ValidationFailed
from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.changes import UNCHANGED
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.schemas import MAX_PAGE_NUMBER, MAX_PAGE_SIZE

A = TypeVar("A")


@dataclass(slots=True, eq=False, repr=False)
class AsCaller:
    """The services of the process, and the user that the plugin calls them as."""

    _user: ActingUser

    def _get(self, kind: type[A]) -> A:
        return self._user.services().get(kind)

    def _caller(self, rule: OperationRule, *ids: str | None) -> Identity:
        return self._user.identity(rule, *ids)

    def _origin(self) -> Origin:
        """Return the origin for audit records of what the plugin has changed."""
        return self._user.signed_origin()


def changed(**values: Any) -> dict[str, Any]:
    """Return the members that a change names."""
    return {name: value for name, value in values.items() if value is not UNCHANGED}


def make_paging(number: int, size: int) -> Paging:
    """Return the paging, within the limits of REST."""
    if not (1 <= number <= MAX_PAGE_NUMBER and 1 <= size <= MAX_PAGE_SIZE):
        message = f"Must be at least 1; a page has at most {MAX_PAGE_SIZE} records."
        raise ValidationFailed.of_field("page", "invalid", message)
    return Paging(number, size)


def result_page(page: Page[A]) -> ResultPage[A]:
    """Return a page of the core as one of the plugin API."""
    is_by_cursor = page.paging.after is not None
    number, size = page.paging.number, page.paging.size
    return ResultPage(page.items, page.total, number, size, is_by_cursor, page.following)
