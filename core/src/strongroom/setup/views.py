"""Routes for the setup page and its API call."""

from typing import Any

from flask import Response

from strongroom.accounts.registration import Registration
from strongroom.accounts.schemas import UserSchema
from strongroom.errors import CredentialTaken, SetupLinkInvalid
from strongroom.setup.pages import setup_page
from strongroom.setup.schemas import SetupSchema
from strongroom.setup.service import Setup
from strongroom.users.models import User, UserType
from strongroom.web.blueprint import Blueprint
from strongroom.web.components import use
from strongroom.web.guard import Access
from strongroom.web.location import Location
from strongroom.web.requests import origin

blueprint = Blueprint("setup", __name__, url_prefix="/setup", description="The first administrator.")

_PAGE = {"responses": {"200": {"description": "A page", "content": {"text/html": {}}}}}


@blueprint.operation("GET", "", access=Access.PUBLIC, document=_PAGE)
def show_setup_page() -> Response:
    """Get the setup page. The token is in the URL fragment, which browsers do not send."""
    return setup_page()


@blueprint.operation(
    "POST",
    "",
    access=Access.PUBLIC,
    body=SetupSchema,
    returns=UserSchema,
    status=201,
    location=Location("users.get_user", {"user_id": "id"}),
    errors=(SetupLinkInvalid, CredentialTaken),
    limit="setup_per_address",
)
def create_first_administrator(body: dict[str, Any]) -> User:
    """Create the first administrator, with the token of the link that the operator has issued.

    The link is valid for one use within an hour, and only while there is no administrator.
    """
    token = body.pop("token")
    return use(Setup).redeem(token, Registration(kind=UserType.ADMIN, **body), origin())
