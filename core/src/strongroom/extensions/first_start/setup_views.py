"""Routes for the setup of the first administrator."""

from dataclasses import replace
from typing import Any, Final

from strongroom.extensions.first_start.first_administrator import Setup
from strongroom.extensions.first_start.setup_command import setup_commands
from strongroom.extensions.first_start.start_views import StartPages
from strongroom.foundation import errors
from strongroom.foundation.config import Settings
from strongroom.identity.accounts.registration import Registration
from strongroom.identity.accounts.schemas import SetupSchema, UserSchema
from strongroom.identity.sessions.browser_sessions import BrowserSessions
from strongroom.identity.sessions.login import LoginService
from strongroom.identity.users.models import User, UserType
from strongroom.plugin_api.login import LoginAttempt
from strongroom.plugin_api.web import ApiError, Location
from strongroom.web.http.access import Access
from strongroom.web.http.request import client, get_service, header, origin
from strongroom.web.http.routing import Blueprint
from strongroom.web.pages.account_pages import AccountPages
from strongroom.web.pages.browsers import Browsers
from strongroom.web.pages.html import Pages

blueprint: Final = Blueprint("setup", url_prefix="/setup", description="The first administrator.")

_PAGES: Final = Pages("strongroom.extensions.first_start")
_PAGE: Final = {"responses": {"200": {"description": "A page", "content": {"text/html": {}}}}}


@blueprint.operation("GET", "", access=Access.PUBLIC, document=_PAGE)
def show_setup_page() -> Any:
    """Get the setup page. The token is in the URL fragment, which browsers do not send.

    For browsers. Its form creates the first administrator while there is none; afterwards the page says
    so and leads to the login.
    """
    pages, start, setup = get_service(AccountPages), get_service(StartPages), get_service(Setup)
    is_production = get_service(Settings).is_production
    return _PAGES.render(
        "setup.html",
        is_open=setup.is_open(),
        is_needed=setup.is_needed(),
        next_path=pages.account and (start.home or pages.account),
        login_path=pages.login,
        start_path=f"{start.base_path}/",
        is_production=is_production,
        command=setup_commands(is_production=is_production),
    )


@blueprint.operation(
    "POST",
    "",
    access=Access.PUBLIC,
    body=SetupSchema,
    returns=UserSchema,
    status=201,
    location=Location("users.get_user", {"user_id": "id"}),
    errors=(errors.SetupLinkInvalid, errors.CredentialTaken),
    limit="setup_per_address",
)
def create_first_administrator(body: dict[str, Any]) -> User:
    """Create the first administrator, with the token of the link that the operator has issued.

    The link is valid for one use within an hour, and only while there is no administrator. A browser on
    a server with login pages is logged in afterwards, and opens the home page.
    """
    token = body.pop("token")
    user = get_service(Setup).consume(token, Registration(kind=UserType.ADMIN, **body), origin())
    # Only the setup page of a browser has use for a session: other programs get tokens by a login.
    if get_service(AccountPages).account and header("Sec-Fetch-Site") == "same-origin":
        _begin_session(body["email"], body["password"])
    return user


def _begin_session(email: str, password: str) -> None:
    visit = get_service(Browsers).current()
    device = replace(client(), device_id=visit.state.device)
    attempt = LoginAttempt(client=device, username=email, password=password)
    try:
        issued = get_service(LoginService).log_in(attempt, origin=origin())
    except ApiError:
        # Such as a second factor that is due. The administrator exists, and the login page requires it.
        return
    get_service(BrowserSessions).begin(visit, issued.access_token, origin())
