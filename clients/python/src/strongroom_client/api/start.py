"""Operations on start. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Start
from ..operations import Operation


def get_favicon() -> Operation[None]:
    """Answer browsers, which request it with each first page; the server has no icon.

    Responds 204 without a body, so that the requests of browsers are no errors in the log. The response
    may be cached for a day.
    """
    return Operation(
        "GET",
        "/favicon.ico",
        type(None),
    )


def show_start_page() -> Operation[Start]:
    """Get the name, the version and links: as a page for people, as JSON for programs.

    A plugin may have a home page, to which people are redirected once there is an administrator.
    """
    return Operation(
        "GET",
        "/",
        Start,
    )
