"""The routes of users' passkeys: to add, list, rename and remove them, and to begin a login."""

from typing import Any

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.factors import FactorInfo, OpenEnrolment
from strongroom.plugin_api.request import current_host
from strongroom.plugin_api.schemas import DoneSchema, FactorSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import PROOF_PARAMETERS, Access, Blueprint, HostErrors
from strongroom_login_passkey.factor import PasskeyFactor
from strongroom_login_passkey.schemas import (
    NewChallengeSchema,
    NewPasskeySchema,
    PasskeyChallengeSchema,
    PasskeyNameSchema,
)

_PASSKEY = PasskeyFactor.name

Json = dict[str, Any]


routes = Blueprint(
    "passkeys",
    description="The passkeys of users.",
    parameters={"passkey_id": "Id of the passkey, as in the list of the user's passkeys"},
)


@routes.operation(
    "POST",
    "/users/<user_id>/passkey-challenges",
    returns=PasskeyChallengeSchema,
    status=201,
    access=Access.USER,
    sensitive=Sensitive.FACTORS,
    errors=(HostErrors.FACTORS,),
    document={"parameters": PROOF_PARAMETERS},
)
def create_passkey_challenge(user_id: str) -> Json:
    """Begin to add a passkey, with a fresh proof; `addPasskey` finishes it within 5 minutes.

    Pass `publicKey` to `navigator.credentials.create()` of the browser. Nothing changes until
    `addPasskey`.
    """
    return _challenge(current_host().factors.begin(user_id, _PASSKEY))


@routes.operation(
    "POST",
    "/users/<user_id>/passkeys",
    body=NewPasskeySchema,
    returns=FactorSchema,
    status=201,
    access=Access.USER,
    sensitive=Sensitive.FACTORS,
    errors=(HostErrors.FACTORS,),
    document={"parameters": PROOF_PARAMETERS},
)
def add_passkey(user_id: str, body: Json) -> tuple[FactorInfo, int, dict[str, str]]:
    """Add the passkey that the browser has created.

    The body has the answer of `navigator.credentials.create()` to the challenge. The user is
    informed of the new passkey.
    """
    host = current_host()
    added, _ = host.factors.confirm(
        user_id, body["challengeId"], body["credential"], member="credential", name=body["name"]
    )
    return added, 201, {"Location": f"{host.public_url}/users/{user_id}/passkeys/{added.id}"}


@routes.operation(
    "GET",
    "/users/<user_id>/passkeys",
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(FactorSchema),
    errors=(HostErrors.FACTORS,),
)
def list_passkeys(user_id: str, query: Json) -> Any:
    """List the passkeys of a user, oldest first.

    Administrators of the server may list other users' passkeys. Public keys are not included.
    """
    host = current_host()
    passkeys = host.factors.list(user_id, _PASSKEY)
    page = host.lists.page(passkeys, query, lambda item: (item.created_at, item.id))
    return host.lists.collection(page, query)


@routes.operation(
    "GET",
    "/users/<user_id>/passkeys/<passkey_id>",
    access=Access.USER,
    returns=FactorSchema,
    errors=(HostErrors.FACTORS,),
)
def get_passkey(user_id: str, passkey_id: str) -> FactorInfo:
    """Get a passkey of a user, without its key.

    Administrators of the server may read other users' passkeys. The response has the name, and when
    the passkey was last used.
    """
    return current_host().factors.get(user_id, _PASSKEY, passkey_id)


@routes.operation(
    "PATCH",
    "/users/<user_id>/passkeys/<passkey_id>",
    body=PasskeyNameSchema,
    returns=FactorSchema,
    access=Access.USER,
    sensitive=Sensitive.FACTORS,
    errors=(HostErrors.FACTORS,),
    document={"parameters": PROOF_PARAMETERS},
)
def rename_passkey(user_id: str, passkey_id: str, body: Json) -> FactorInfo:
    """Rename a passkey, with a fresh proof.

    The name in the password manager of the user does not change.
    """
    return current_host().factors.rename(user_id, _PASSKEY, passkey_id, body["name"])


@routes.operation(
    "DELETE",
    "/users/<user_id>/passkeys/<passkey_id>",
    returns=DoneSchema,
    access=Access.USER,
    sensitive=Sensitive.FACTORS,
    errors=(HostErrors.FACTORS,),
    document={"parameters": PROOF_PARAMETERS},
)
def remove_passkey(user_id: str, passkey_id: str) -> Json:
    """Remove a passkey, with a fresh proof.

    It no longer logs in. The user removes it from the device or the password manager as well.
    """
    current_host().factors.remove(user_id, _PASSKEY, passkey_id)
    return {"success": True}


@routes.operation(
    "POST",
    "/passkey-challenges",
    access=Access.PUBLIC,
    body=NewChallengeSchema,
    returns=PasskeyChallengeSchema,
    status=201,
)
def create_login_challenge(body: Json) -> Json:  # noqa: ARG001  it has no member
    """Begin a login by any passkey; `createAuthorization` with `passkey` finishes it, in one try.

    Pass `publicKey` to `navigator.credentials.get()` of the browser. No user is named: the browser
    offers the passkeys that it has for the server.
    """
    return _challenge(current_host().factors.begin_login(_PASSKEY))


def _challenge(begun: OpenEnrolment) -> Json:
    return {
        "id": begun.id,
        "publicKey": begun.shown["publicKey"],
        "expiresAt": begun.expires_at,
    }
