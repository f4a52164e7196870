"""A name that people see has a visible character, and is one line."""

import pytest
from tests.support.api import PASSWORD, error_code
from tests.support.scene import Scene

from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import ValidationFailed
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom_login_passkey.schemas import NewPasskeySchema, PasskeyNameSchema
from strongroom_share_links.schemas import NewShareSchema, ShareChangesSchema

SCHEMAS = {
    NewPasskeySchema: ["name"],
    PasskeyNameSchema: ["name"],
    NewShareSchema: ["label"],
    ShareChangesSchema: ["label"],
}
"""The names in requests to plugins, which others see."""

BLANKS = {
    "zero-width": "\u200b",
    "ideographic": "\u3000",
    "no-break": "\u00a0",
    "line": "\u2028a",
    "filler": "\u3164",
    "selector": "\ufe0f",
    "two lines": "a\nb",
    "terminal": "a\x1b[2Jb",
    "C1 control": "a\x9bb",
    "mixed": "\u3000\u200b \u00a0",
}


@pytest.mark.parametrize("name", BLANKS.values(), ids=BLANKS)
def test_it_is_refused_everywhere(scene: Scene, name: str) -> None:
    api, admin = scene.api, scene.admin
    root = api.person(admin=True)
    file = scene.file("plan")
    answers = {
        "folder": api.post(f"{scene.path}/folders", {"name": name}, by=admin),
        "file": api.patch(f"{scene.path}/files/{file['id']}", {"name": name}, by=admin),
        "user": api.patch("/users/me", {"name": name}, by=admin),
        "tenant": api.post("/api/v1/tenants", {"name": name}, by=admin),
        "group": api.post(f"{scene.path}/groups", {"name": name}, by=admin),
        "service account": api.post("/api/v1/service-accounts", {"name": name}, by=root),
        "access key": api.post(
            "/users/me/access-keys",
            {"name": name, "scopes": ["files:read"], "currentPassword": PASSWORD},
            by=admin,
        ),
    }
    registered = Registration(name, PASSWORD, email="new@example.com")
    with pytest.raises(ValidationFailed):
        api.container.get(RegistrationService).create(registered, Origin())
    for schema, members in SCHEMAS.items():
        assert schema().validate(dict.fromkeys(members, name)).keys() >= {*members}, schema
    refused = {place: (answer.status_code, error_code(answer)) for place, answer in answers.items()}
    assert refused == dict.fromkeys(answers, (400, "error.validation-failed"))


@pytest.mark.parametrize("name", ["報告", "\u0301a", "✔", "👩\u200d💻", "a\u202eb", "\u200bא"])
def test_a_visible_name_is_kept(scene: Scene, name: str) -> None:
    assert scene.folder(name)["name"] == name
    assert scene.api.patch("/users/me", {"name": name}, by=scene.admin).json["name"] == name
