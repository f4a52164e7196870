"""Mutants: logins to clients."""

from typing import Final

from tests.mutants.modules import oidc_provider

ROWS: Final = (
    oidc_provider(
        "provider-redirect-uris",
        "A request names a redirect URI of its client exactly.",
        "authorization.py::Authorizations._find_client",
        "not client.check_redirect_uri(uris[0])",
        "False",
        "oidc_provider/rest/test_oidcc_basic.py::test_oidcc_ensure_registered_redirect_uri",
    ),
    oidc_provider(
        "provider-loopback-ports",
        "The port of a loopback URI is free for public clients only.",
        "redirect_uris.py::find_registered",
        "is_public and len(uri) <= MAX_LENGTH",
        "len(uri) <= MAX_LENGTH",
        "oidc_provider/test_redirect_uris.py::test_the_port_of_a_loopback_uri_is_free_for_public_clients",
    ),
    oidc_provider(
        "provider-code-once",
        "A code is used once.",
        "codes.py::Codes.consume",
        "unused = and_(ours, codes.c.used_at.is_(None), codes.c.expires_at > now)",
        "unused = and_(ours, codes.c.expires_at > now)",
        "oidc_provider/rest/test_oidcc_basic.py::test_oidcc_codereuse",
    ),
    oidc_provider(
        "provider-code-reuse",
        "The second use of a code ends its grant.",
        "codes.py::Codes.consume",
        "if grant_id is not None:",
        "if False:",
        "oidc_provider/rest/test_oidcc_basic.py::test_oidcc_codereuse_30seconds",
    ),
    oidc_provider(
        "provider-code-clients",
        "A code is of one client.",
        "codes.py::Codes.find",
        "and_(codes.c.hash == _hash(code), codes.c.client_id == client_id)",
        "codes.c.hash == _hash(code)",
        "oidc_provider/rest/test_token_endpoint.py::test_the_code_is_of_one_client_and_one_redirect_uri",
    ),
    oidc_provider(
        "provider-pkce",
        "Every client uses PKCE.",
        "oauth/pkce.py::RequiredChallenge.validate_code_challenge",
        'if parameters.get("code_challenge_method") != "S256":',
        "if False:",
        "oidc_provider/rest/test_oidcc_basic.py::test_pkce_by_s256_is_required",
    ),
    oidc_provider(
        "provider-consent",
        "An untrusted client gets nothing without consent.",
        "authorization.py::Authorizations._needs_page",
        "return not consents.covers(",
        "return False and consents.covers(",
        "oidc_provider/rest/test_oidcc_basic.py::test_prompt_none_without_consent",
    ),
    oidc_provider(
        "provider-consent-csrf",
        "Another site cannot consent.",
        "authorization.py::Authorizations.decide",
        "self._host.browser.require_csrf()",
        "pass",
        "oidc_provider/rest/test_consents.py::test_another_site_cannot_decide",
    ),
    oidc_provider(
        "provider-max-age",
        "A client may demand a recent login.",
        "authorization.py::Authorizations._find_need",
        "authorization.proven_since is not None and session.auth_time < authorization.proven_since",
        "False",
        "oidc_provider/rest/test_oidcc_basic.py::test_oidcc_max_age_1",
    ),
    oidc_provider(
        "provider-resources",
        "A client gets tokens for its own services only.",
        "oauth/rules.py::RequestRules._find_resource",
        "if len(resources) > 1 or None in resources:",
        "if False:",
        "oidc_provider/rest/test_token_endpoint.py::test_other_resources_are_refused",
    ),
    oidc_provider(
        "provider-introspection",
        "Clients learn nothing about tokens of others.",
        "oauth/endpoints.py::_may_inspect",
        "return is_own or (",
        "return True or (",
        "oidc_provider/rest/test_token_endpoint.py::test_introspection_reports_the_state_of_a_token",
    ),
    oidc_provider(
        "provider-logout-uris",
        "A logout leads to a registered URI only.",
        "logout.py::_find_url",
        "if uri not in client.post_logout_redirect_uris:",
        "if False:",
        "oidc_provider/rest/test_oidcc_rpinitiated_logout.py::"
        "test_oidcc_rp_initiated_logout_bad_post_logout_redirect_uri",
    ),
    oidc_provider(
        "provider-logout-users",
        "Another user's ID token logs nobody out.",
        "logout.py::LogoutRequest.is_confirmed",
        'self.claims.get("sub") == session.user_id',
        "True",
        "oidc_provider/rest/test_oidcc_rpinitiated_logout.py::"
        "test_the_hint_of_another_user_is_no_confirmation",
    ),
    oidc_provider(
        "provider-logout-csrf",
        "Another site cannot confirm a logout.",
        "logout.py::Logouts.confirm",
        "self._host.browser.require_csrf()",
        "pass",
        "oidc_provider/rest/test_oidcc_rpinitiated_logout.py::"
        "test_the_confirmation_needs_the_form_of_the_page",
    ),
    oidc_provider(
        "provider-secrets",
        "A former secret ends after its overlap.",
        "clients.py::_live",
        'if item["endsAt"] is None or item["endsAt"] > now',
        "",
        "oidc_provider/rest/test_clients.py::test_two_secrets_are_valid_after_a_rotation",
    ),
)
