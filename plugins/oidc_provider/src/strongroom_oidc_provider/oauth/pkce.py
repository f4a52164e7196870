"""Proof Key for Code Exchange (RFC 7636): S256, for every client."""

from typing import Any

from authlib.oauth2.rfc6749 import InvalidRequestError
from authlib.oauth2.rfc7636 import CodeChallenge

from strongroom_oidc_provider.models import Code


class RequiredChallenge(CodeChallenge):  # type: ignore[misc]
    """Requires a challenge by S256; ``plain`` and the method's absence, which means it, are refused."""

    DEFAULT_CODE_CHALLENGE_METHOD = "S256"
    SUPPORTED_CODE_CHALLENGE_METHOD = ("S256",)
    CODE_CHALLENGE_METHODS = {"S256": CodeChallenge.CODE_CHALLENGE_METHODS["S256"]}  # noqa: RUF012  as Authlib's

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        parameters = grant.request.payload.data
        if not parameters.get("code_challenge"):
            raise InvalidRequestError("code_challenge is missing; PKCE is required.")
        if parameters.get("code_challenge_method") != "S256":
            raise InvalidRequestError("code_challenge_method must be S256.")
        super().validate_code_challenge(grant, redirect_uri)

    def get_authorization_code_challenge(self, authorization_code: Code) -> str:
        return authorization_code.challenge

    def get_authorization_code_challenge_method(self, authorization_code: Code) -> str:  # noqa: ARG002
        return "S256"
