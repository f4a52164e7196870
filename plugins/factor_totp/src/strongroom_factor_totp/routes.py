"""The routes of users' authenticator apps."""

from typing import Any, Final

from strongroom.plugin_api.web import Blueprint, HostAPI
from strongroom_factor_totp.schemas import (
    NewTotpSchema,
    TotpCodeSchema,
    TotpConfirmedSchema,
    TotpSecretSchema,
)

_TOTP: Final = "totp"
_OPEN: Final = "enrolment"

Json = dict[str, Any]


def make_routes(host: HostAPI) -> Blueprint:
    """Return the routes of the enabled factor."""
    routes, factors = host.blueprint("authenticator apps", description="Codes of apps."), host.factors

    @routes.operation(
        "POST",
        "/users/<user_id>/totp",
        body=NewTotpSchema,
        returns=TotpSecretSchema,
        status=201,
        **factors.change,
    )
    def create_totp(user_id: str, body: Json) -> Json:
        """Get a secret for an authenticator app, with a fresh proof.

        It is in force after `confirmTotp`, within 5 minutes; until then a further call replaces it.
        """
        begun = factors.begin(user_id, _TOTP, body["name"])
        # Only for this user's requests with a token, and only until the enrolment expires.
        host.store.put(_caller(host), _OPEN, begun.id)
        return dict(begun.shown)

    @routes.operation(
        "POST",
        "/users/<user_id>/totp/confirmation",
        body=TotpCodeSchema,
        returns=TotpConfirmedSchema,
        **factors.change,
    )
    def confirm_totp(user_id: str, body: Json) -> Json:
        """Finish the enrolment with a code of the app; from now on every login requires one.

        A user without recovery codes gets them in this response only; each replaces the app once.
        `createTotp` is the first step.
        """
        opened = host.store.get(_caller(host), _OPEN) or ""
        _, shown = factors.confirm(
            user_id, opened, body["code"], member="code", with_recovery_codes=True
        )
        host.store.delete(_caller(host), _OPEN)
        return {"recoveryCodes": shown.get("recoveryCodes", [])}

    @routes.operation("DELETE", "/users/<user_id>/totp", returns=host.done_schema, **factors.change)
    def remove_totp(user_id: str) -> Json:
        """Remove the authenticator app, with a fresh proof.

        Logins of the user require another second factor from now on, or none if this was the last one.
        """
        held = factors.list(user_id, _TOTP)
        factors.remove(user_id, _TOTP, held[0].id if held else "")
        return {"success": True}

    return routes


def _caller(host: HostAPI) -> str:
    # The routes admit only users, so there is one.
    return host.caller.user_id if host.caller else ""
