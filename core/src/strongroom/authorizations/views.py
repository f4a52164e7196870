"""Login and logout."""

from typing import Any

from strongroom.authorizations.schemas import IssuedTokenSchema, LoginSchema
from strongroom.authorizations.service import AuthorizationService, IssuedToken
from strongroom.errors import (
    CaptchaInvalid,
    CaptchaRequired,
    InvalidCredentials,
    NotFound,
    UserSuspended,
)
from strongroom.plugin_api.login import LoginAttempt, VerificationCode
from strongroom.verification.captchas import CaptchaAnswer
from strongroom.web.blueprint import Blueprint
from strongroom.web.components import use
from strongroom.web.guard import TOKEN_HEADER, Access, optional_identity
from strongroom.web.requests import client, origin
from strongroom.web.schema import DONE, DoneSchema

blueprint = Blueprint("authorizations", __name__, description="Log in and out.")

Headers = dict[str, str]


@blueprint.operation(
    "POST",
    "/authorizations",
    access=Access.PUBLIC,
    body=LoginSchema,
    returns=IssuedTokenSchema,
    errors=(InvalidCredentials, CaptchaRequired, CaptchaInvalid, UserSuspended),
)
def create_authorization(body: dict[str, Any]) -> tuple[IssuedToken, int, Headers]:
    """Log in by password or by verification code, and get an access token.

    After three failures by one name or from one address, an attempt with a password needs a captcha.
    """
    code, captcha = body["verificationCode"], body["captcha"]
    attempt = LoginAttempt(
        client=client(),
        username=body["username"],
        password=body["password"],
        verification_code=VerificationCode(**code) if code else None,
    )
    issued = use(AuthorizationService).log_in(
        attempt, CaptchaAnswer(**captcha) if captcha else None, origin()
    )
    return issued, 200, token_headers(issued)


@blueprint.operation(
    "DELETE",
    "/authorizations/<reference>",
    access=Access.OPTIONAL,
    returns=DoneSchema,
    errors=(NotFound,),
)
def delete_authorization(reference: str) -> dict[str, bool]:
    """Log out: destroy an access token.

    The reference is `current`, the token's `jti`, or the token itself; prefer the first two, for URLs
    end up in logs. Whoever sends the token itself needs no other.
    """
    use(AuthorizationService).revoke(reference, optional_identity(), origin())
    return DONE


def token_headers(issued: IssuedToken) -> Headers:
    """Return the response headers that carry a token."""
    return {TOKEN_HEADER: issued.access_token, "Access-Control-Expose-Headers": TOKEN_HEADER}
