"""Routes for the setup page and its API call."""

from functools import lru_cache
from typing import Any

from flask import Response
from jinja2 import Environment, PackageLoader, Template

from strongroom.accounts.first_administrator import Setup
from strongroom.accounts.registration import Registration
from strongroom.accounts.schemas import SetupSchema, UserSchema
from strongroom.errors import CredentialTaken, SetupLinkInvalid
from strongroom.http.access import Access
from strongroom.http.html import html_page
from strongroom.http.request import get_service, languages, origin
from strongroom.http.routing import Blueprint, Location
from strongroom.notifications.templates import locale_of
from strongroom.users.models import User, UserType


def setup_page() -> Response:
    """Return the page in the browser's preferred language."""
    return html_page(_template(), language=locale_of(languages()))


@lru_cache(maxsize=1)
def _template() -> Template:
    loader = PackageLoader("strongroom.accounts")
    return Environment(loader=loader, autoescape=True, trim_blocks=True).get_template("setup.html")


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
    return get_service(Setup).redeem(token, Registration(kind=UserType.ADMIN, **body), origin())
