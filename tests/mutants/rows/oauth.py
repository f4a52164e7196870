"""Mutants: oauth."""

from typing import Final

from tests.mutants.modules import core, dingtalk, oauth, wechat, wecom

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
    oauth(
        "redirects-own-uri",
        "The answer of a provider comes to the redirect URI of the provider that the login began with.",
        "routes.py::Routes._require_own_uri",
        "if provider is None or name != expected:",
        "if provider is None:",
        "login_oauth/test_app_mix_up.py::test_the_operator_of_one_app_logs_in_as_no_user_of_another",
    ),
    core(
        "connections-proof",
        "A browser that is logged in connects an account with a proof of the user.",
        "assembly/plugin_host/host.py::PluginHost.bind",
        "get_service(Reauthentication).require(identity, Proof(code, current_password))",
        "",
        "login_wechat/rest/test_connection.py::TestConnecting::test_a_wrong_code_is_corrected",
    ),
    core(
        "states-expiry",
        "A state lasts ten minutes.",
        "identity/sessions/oauth_states.py",
        '_STATES.expires_at > bindparam("now"),',
        "",
        "login_wechat/rest/test_login.py::TestWebsite::test_a_state_lasts_ten_minutes",
    ),
    core(
        "credentials-length",
        "An id of a platform that no database stores is no failure of the server.",
        "plugin_api/login.py::VerifiedCredential.__post_init__",
        "if not _is_storable(credential.value):",
        "if False:",
        "unit/plugin_api/test_login.py::test_an_id_that_no_database_stores_is_the_platforms_failure",
    ),
    oauth(
        "answers-bytes",
        "An answer of a platform has a limit of bytes.",
        "transport.py::BoundedAdapter._read",
        "while len(content) <= self._max_bytes:",
        "while True:",
        "login_oauth/test_transport.py::test_an_answer_that_is_too_large_is_refused",
    ),
    oauth(
        "answers-time",
        "A whole answer of a platform has one time limit.",
        "transport.py::_TimedFile.readinto",
        "self._socket.settimeout(left)",
        "self._deadline += left",
        "login_oauth/test_transport.py::test_one_time_limit_holds_for_the_whole_answer",
    ),
    oauth(
        "answers-integers",
        "A number of a platform is one that every database stores.",
        "answer.py::Json.integer",
        "if abs(number) > MAX_INTEGER:",
        "if False:",
        "login_oauth/test_transport.py::test_an_integer_is_one",
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
        'str(watermark.get("appid")).encode(errors="replace")',
        "appid.encode()",
        "login_wechat/test_crypto.py::test_any_other_watermark_is_refused",
    ),
    dingtalk(
        "dingtalk-outsiders",
        "Only members of the company log in by DingTalk.",
        "app.py::App.identify",
        "if self._app.members_only:",
        "if False:",
        "login_dingtalk/test_app.py::TestRefusals"
        "::test_members_of_other_companies_and_external_contacts_are_refused",
    ),
    dingtalk(
        "dingtalk-contacts",
        "External contacts of the company do not log in by DingTalk.",
        "app.py::App._require_member",
        'if contact.optional_integer("contact_type") != 0 or not contact.optional_text("userid"):',
        'if not contact.optional_text("userid"):',
        "login_dingtalk/test_app.py::TestRefusals"
        "::test_members_of_other_companies_and_external_contacts_are_refused",
    ),
    dingtalk(
        "dingtalk-company",
        "The company of a code is compared, because browsers can change the URL that asks for it.",
        "app.py::App._person",
        'if self._app.exclusive_corp_id not in (None, tokens.optional_text("corpId")):',
        "if False:",
        "login_dingtalk/test_app.py::TestRefusals"
        "::test_a_changed_url_does_not_bring_the_company_of_another_account",
    ),
    wecom(
        "wecom-outsiders",
        "Only members of the corporation log in by WeCom.",
        "provider.py::WeComProvider._outsider",
        "if self._app.members_only:",
        "if False:",
        "login_wecom/test_provider.py::TestIdentity::test_other_people_are_not_members",
    ),
    wecom(
        "wecom-disabled",
        "Members who are disabled or have left do not log in by WeCom.",
        "provider.py::WeComProvider._name",
        'if entry.optional_integer("status", 1) in _GONE:',
        "if False:",
        "login_wecom/test_provider.py::TestMembers::test_who_leave_are_members_no_more",
    ),
    wecom(
        "wecom-case",
        "The case of a userid of WeCom makes no second user.",
        "people.py::member_credential",
        "userid.lower()",
        "userid",
        "login_wecom/test_provider.py::TestIdentity"
        "::test_a_member_is_known_by_corporation_and_userid_in_lowercase",
    ),
)
