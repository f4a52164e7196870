"""The search of the audit log: by a user, a network address or an action."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final
from uuid import UUID

from strongroom_console.server.audit_names import keys_of_action
from strongroom_console.server.stories import ALONE, OF_ONESELF, ON_TARGET, WITH_PERSON
from strongroom_console.visit import ConsoleVisit

MOST_OFFERED: Final = 8
"""The most users that a search offers."""

ACTIONS: Final = tuple(sorted(ALONE | ON_TARGET | OF_ONESELF | WITH_PERSON))
"""The actions that the form offers; a query may have any other one."""


@dataclass(frozen=True, slots=True)
class Search:
    """What the text of a search stands for.

    Args:
        filters: the parameters of the REST API; ``None`` if it stands for nothing, or for several users.
        people: the users that it may stand for, if they are several.
    """

    filters: Mapping[str, str] | None
    people: Sequence[Mapping[str, Any]] = ()


def find_subject(visit: ConsoleVisit, text: str) -> Search:
    """Return what the text of a search stands for."""
    if not text:
        return Search({})
    if keys_of_action(text):
        return Search({"action": text})
    for parameter, parse in (("address", ip_address), ("actorId", UUID)):
        if _is_valid(parse, text):
            return Search({parameter: text})
    people = visit.find("/users", q=text, pageSize=MOST_OFFERED)
    if len(people) == 1:
        return Search({"actorId": people[0]["id"]})
    return Search(None, people)


def _is_valid(parse: Any, text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
