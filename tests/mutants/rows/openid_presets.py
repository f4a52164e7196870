"""Mutants: presets of OpenID Connect."""

from typing import Final

from tests.mutants.modules import openid

_PLATFORMS: Final = "login_oidc/test_preset_platforms.py"
_MICROSOFT: Final = f"{_PLATFORMS}::TestMicrosoft"

ROWS: Final = (
    openid(
        "google-owner",
        "An address counts if Google is authoritative for it.",
        "presets/google.py::GoogleProvider.verified_email",
        "return email if is_own or _organisation(claims) else None",
        "return email",
        f"{_PLATFORMS}::TestGoogle::test_an_address_counts_if_google_owns_it",
    ),
    openid(
        "google-organisation",
        "The organisation of the ID token is an allowed one.",
        "presets/google.py::GoogleProvider.check_person",
        "if domains and organisation is not None and organisation not in domains:",
        "if False:",
        f"{_PLATFORMS}::TestGoogle::test_an_allowed_domain_is_that_of_the_token",
    ),
    openid(
        "microsoft-issuer",
        "The issuer of a token is that of its tenant.",
        "presets/microsoft.py::MicrosoftProvider.check_token_issuer",
        'check_issuer(claims, self._get_issuer(_id(claims, "tid")))',
        'claims.get("tid")',
        f"{_MICROSOFT}::test_a_token_has_its_tenant_and_its_person",
    ),
    openid(
        "microsoft-tenants",
        "Only the people of listed tenants log in.",
        "presets/microsoft.py::MicrosoftProvider.check_person",
        "if not is_of_authority or (allowed and tenant not in allowed):",
        "if not is_of_authority:",
        f"{_MICROSOFT}::test_only_allowed_tenants_log_in",
    ),
    openid(
        "microsoft-authority",
        "One tenant accepts its own people only, whatever authority has issued the token.",
        "presets/microsoft.py::MicrosoftProvider.check_person",
        "if not is_of_authority or (allowed and tenant not in allowed):",
        "if allowed and tenant not in allowed:",
        f"{_MICROSOFT}::test_one_tenant_accepts_its_people_only",
    ),
    openid(
        "microsoft-person",
        "A person is the object in the tenant.",
        "presets/microsoft.py::MicrosoftProvider.subject",
        "return f\"{_id(claims, 'tid')}:{_id(claims, 'oid')}\"",
        "return f\"{_id(claims, 'oid')}\"",
        "login_oidc/rest/test_account_takeover.py::TestMicrosoft"
        "::test_the_same_object_id_in_another_tenant_is_another_person",
    ),
    openid(
        "microsoft-addresses",
        "No option trusts addresses of Microsoft.",
        "presets/microsoft.py::MicrosoftPreset.check",
        "if options.trust_email or options.allowed_domains:",
        "if False:",
        "login_oidc/test_preset_options.py::test_a_wrong_option_is_refused_with_a_sentence",
    ),
    openid(
        "github-address",
        "The primary address counts if GitHub has verified it.",
        "presets/github.py::primary_email",
        'if len(primary) != 1 or primary[0].get("verified") is not True:',
        "if len(primary) != 1:",
        f"{_PLATFORMS}::TestGitHub::test_the_primary_verified_address_counts",
    ),
    openid(
        "gitee-address",
        "The primary address counts if it is confirmed.",
        "presets/gitee.py::primary_email",
        'if len(primary) != 1 or primary[0].get("state") != "confirmed":',
        "if len(primary) != 1:",
        f"{_PLATFORMS}::TestGitee::test_the_confirmed_primary_address_counts",
    ),
    openid(
        "account-number",
        "An account is its number.",
        "presets/oauth2.py::read_number",
        "if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < _NUMBERS:",
        "if number is None:",
        f"{_PLATFORMS}::TestGitHub::test_a_profile_has_a_number",
    ),
    openid(
        "qq-app",
        "A token of QQ was issued to this app.",
        "presets/qq.py::QQProvider.person",
        'if ids.text("client_id") != client_id:',
        "if False:",
        f"{_PLATFORMS}::TestQQ::test_a_token_of_another_app_is_refused",
    ),
)
