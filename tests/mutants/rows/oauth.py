"""Mutants: oauth."""

from typing import Final

from tests.mutants.modules import core, wechat

ROWS: Final = (
    core(
        "states-browser",
        "The state of a redirect is good in the browser that began it.",
        "identity/sessions/oauth_states.py",
        '_STATES.browser_hash == bindparam("browser_hash"),',
        "",
        "login_wechat/rest/test_login.py::TestWebsite"
        "::test_another_browsers_state_is_refused_and_stays_good_for_its_own",
    ),
    core(
        "states-purpose",
        "A state is good for the purpose that it was made for.",
        "identity/sessions/oauth_states.py",
        '_STATES.purpose == bindparam("purpose"),',
        "",
        "unit/identity/sessions/test_oauth_states.py::test_a_state_is_spent_for_its_own_purpose_only",
    ),
    core(
        "states-user",
        "The state of one user does not bind to another.",
        "identity/sessions/oauth_states.py",
        '_STATES.user_id.is_not_distinct_from(bindparam("user_id")),',
        "",
        "login_wechat/rest/test_binding.py::TestBindingState::test_a_state_of_another_user_is_refused",
    ),
    core(
        "states-expiry",
        "A state lasts ten minutes.",
        "identity/sessions/oauth_states.py",
        '_STATES.expires_at > bindparam("now"),',
        "",
        "login_wechat/rest/test_login.py::TestWebsite::test_a_state_lasts_ten_minutes",
    ),
    wechat(
        "wechat-signature",
        "Data of a mini program is signed with the session key.",
        "crypto.py::check_signature",
        "if not hmac.compare_digest(sign(raw_data, session_key).encode(), signature.encode()):",
        "if False:",
        "login_wechat/test_crypto.py::test_any_other_data_signature_or_key_is_refused",
    ),
    wechat(
        "wechat-watermark",
        "Encrypted data of another app is refused.",
        "crypto.py::check_watermark",
        'if not hmac.compare_digest(str(watermark.get("appid")).encode(), appid.encode()):',
        "if False:",
        "login_wechat/test_crypto.py::test_any_other_watermark_is_refused",
    ),
)
