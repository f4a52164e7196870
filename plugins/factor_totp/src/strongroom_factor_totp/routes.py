"""The routes of users' authenticator apps."""

from typing import Any, Final

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.request import current_host
from strongroom.plugin_api.schemas import DoneSchema
from strongroom.plugin_api.web import PROOF_PARAMETERS, Access, Blueprint, HostErrors
from strongroom_factor_totp.schemas import (
    NewTotpSchema,
    TotpCodeSchema,
    TotpConfirmedSchema,
    TotpSecretSchema,
)

_TOTP: Final = "totp"
_OPEN: Final = "enrolment"

Json = dict[str, Any]

routes = Blueprint("authenticator apps", description="Codes of apps.")


@routes.operation(
    "POST",
    "/users/<user_id>/totp",
    body=NewTotpSchema,
    returns=TotpSecretSchema,
    status=201,
    access=Access.USER,
    sensitive=Sensitive.FACTORS,
    errors=(HostErrors.FACTORS,),
    document={"parameters": PROOF_PARAMETERS},
)
def create_totp(user_id: str, body: Json) -> Json:
    """Get a secret for an authenticator app, with a fresh proof.

    It is in force after `confirmTotp`, within 5 minutes; until then a further call replaces it.
    """
    host = current_host()
    begun = host.factors.begin(user_id, _TOTP, body["name"])
    # Only for this user's requests with a token, and only until the enrolment expires.
    host.store.put(_caller(), _OPEN, begun.id)
    return dict(begun.shown)


@routes.operation(
    "POST",
    "/users/<user_id>/totp/confirmation",
    body=TotpCodeSchema,
    returns=TotpConfirmedSchema,
    access=Access.USER,
    sensitive=Sensitive.FACTORS,
    errors=(HostErrors.FACTORS,),
    document={"parameters": PROOF_PARAMETERS},
)
def confirm_totp(user_id: str, body: Json) -> Json:
    """Finish the enrolment with a code of the app; from now on every login requires one.

    A user without recovery codes gets them in this response only; each replaces the app once.
    `createTotp` is the first step.
    """
    host = current_host()
    opened = host.store.get(_caller(), _OPEN) or ""
    _, shown = host.factors.confirm(
        user_id, opened, body["code"], member="code", with_recovery_codes=True
    )
    host.store.delete(_caller(), _OPEN)
    return {"recoveryCodes": shown.get("recoveryCodes", [])}


@routes.operation(
    "DELETE",
    "/users/<user_id>/totp",
    returns=DoneSchema,
    access=Access.USER,
    sensitive=Sensitive.FACTORS,
    errors=(HostErrors.FACTORS,),
    document={"parameters": PROOF_PARAMETERS},
)
def remove_totp(user_id: str) -> Json:
    """Remove the authenticator app, with a fresh proof.

    Logins of the user require another second factor from now on, or none if this was the last one.
    """
    factors = current_host().factors
    held = factors.list(user_id, _TOTP)
    factors.remove(user_id, _TOTP, held[0].id if held else "")
    return {"success": True}


def _caller() -> str:
    # The routes accept only users, so there is one.
    caller = current_host().caller
    return caller.user_id if caller else ""
