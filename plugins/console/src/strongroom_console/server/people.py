"""What the pages of one user share: the user, and the pages about the same user."""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.visits import Visit, join_path
from strongroom_console.server.frame import server_page

USERS: Final = "users/"
"""The section of the pages of users."""

PAGES: Final[Mapping[str, str]] = {
    "": "overview-of-user",
    "spaces": "spaces-of-user",
    "sessions": "sign-in",
    "keys": "access-keys",
    "activity": "activity",
    "metadata": "metadata",
}
"""The keys of the names of the pages about a user, by their paths below the user's."""


def rest_path(user_id: str) -> str:
    """Return the path of a user in the REST API."""
    return join_path("/users", user_id)


def page_path(user_id: str, page: str = "") -> str:
    """Return the path of a page about a user, below the console's."""
    return join_path("/server/users", user_id, page)


def find_user_id(visit: Visit, user_id: str) -> str:
    """Return the id of a user in a path, which may be ``me`` as in the REST API."""
    return visit.session.user_id if user_id == "me" else user_id


def person_page(visit: Visit, template: str, user_id: str, page: str = "", **values: Any) -> Any:
    """Return the response with a page about a user.

    Args:
        page: the path of the page in :data:`PAGES`.

    Raises:
        Refused: there is no such user.
    """
    person = visit.read(rest_path(user_id))
    here = f"{visit.root}{page_path(person['id'])}"
    return server_page(
        visit,
        template,
        USERS,
        person=person,
        person_root=here,
        pages={f"{here}{path}": key for path, key in PAGES.items()},
        page=f"{here}{page}",
        is_own=person["id"] == visit.session.user_id,
        **values,
    )
