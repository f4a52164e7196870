"""Mutants: login pages."""

from typing import Final

from tests.mutants.modules import core, login_pages

ROWS: Final = (
    login_pages(
        "pages-csrf",
        "A form contains the secret of its session.",
        "application.py::_require_own_form",
        "or not hmac.compare_digest(given, visit.session.csrf.encode())",
        "",
        "login_pages/test_pages.py::TestForgery::test_the_secret_of_another_browser_is_refused",
    ),
    login_pages(
        "pages-site",
        "A form of another site is refused.",
        "application.py::_require_own_form",
        'if site != "same-origin" or',
        "if",
        "login_pages/test_pages.py::TestForgery::test_a_form_of_another_site_is_refused",
    ),
    login_pages(
        "pages-form-length",
        "A form is short.",
        "application.py::FormRequest",
        "max_content_length = 64 * 1024",
        "max_content_length = None",
        "login_pages/test_pages.py::test_a_long_form_is_refused",
    ),
    login_pages(
        "pages-new-secret",
        "A login replaces the secret of the session.",
        "login.py::LoginPages._finish",
        "visit.session = session.renewed()",
        "visit.update(challenge=None, enrolment=None)",
        "login_pages/test_pages.py::TestForgery::test_a_login_brings_a_new_secret",
    ),
    login_pages(
        "pages-return-url",
        "The login page returns to configured URLs only.",
        "login.py::LoginPages._return_request",
        "request.url in self._return_urls and",
        "",
        "login_pages/test_pages.py::TestReturn::test_an_unknown_url_is_refused",
    ),
    login_pages(
        "pages-code-challenge",
        "A front end that gets a login protects its code.",
        "login.py::LoginPages._return_request",
        "and _CODE_CHALLENGE.fullmatch(request.code_challenge)",
        "",
        "login_pages/test_pages.py::TestReturn::test_a_request_without_protection_is_refused",
    ),
    login_pages(
        "pages-code-verifier",
        "A login code needs its verifier.",
        "codes.py::LoginCodes.redeem",
        "or not compare_digest(row.code_challenge, challenge_of(verifier))",
        "",
        "login_pages/test_codes.py::test_a_wrong_verifier_uses_the_code_up",
    ),
    login_pages(
        "pages-code-expiry",
        "A login code expires.",
        "codes.py::LoginCodes.redeem",
        ", codes.c.expires_at > self._host.clock.now())",
        ")",
        "login_pages/test_codes.py::test_a_code_expires_and_is_pruned",
    ),
    login_pages(
        "pages-cookie",
        "Scripts cannot read the session.",
        "session.py::SessionCookie.write",
        "httponly=True",
        "httponly=False",
        "login_pages/test_pages.py::TestForgery::test_the_cookie_is_for_the_server_alone",
    ),
    core(
        "internal-requests-token",
        "A request within the process carries no token of the browser.",
        "web/http/internal_requests.py",
        '"HTTP_ACCEPT_LANGUAGE",',
        '"HTTP_ACCEPT_LANGUAGE",\n"HTTP_AUTHORIZATION",',
        "rest/test_host_rest.py::test_the_tokens_and_cookies_of_the_browser_are_not_sent",
    ),
)
