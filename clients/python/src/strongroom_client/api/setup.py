"""Operations on setup. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Setup, User
from ..operations import Operation


def create_first_administrator(
    *,
    body: Setup,
) -> Operation[User]:
    """Create the first administrator, with the token of the link that the operator has issued.

    The link is valid for one use within an hour, and only while there is no administrator. A browser on
    a server with login pages is logged in afterwards, and opens the home page.
    """
    return Operation(
        "POST",
        "/setup",
        User,
        body=body,
    )
