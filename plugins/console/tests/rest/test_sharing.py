"""Sharing with people, groups and links, and the explanation of who can see a file."""

import re
from datetime import date, timedelta

import pytest
from tests.support.api import Api, Json
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.console_space import ConsoleSpace as Space
from tests.support.databases import on_sqlite

from strongroom.foundation.database.upgrade import upgrade
from strongroom_share_links.plugin import register_tables

CORE_PLUGINS = ["storage_local", "login_pages"]
PLUGINS = [*CORE_PLUGINS, "share_links", "console"]
LINKS: Table = {"kinds": ["read", "preview", "drop", "write"]}
CONFIG: Table = merged(FIXED_CAPTCHA, {"plugins": {"enabled": PLUGINS, "share_links": LINKS}})
HOSTILE = "<img src=x onerror=alert(1)>"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture(autouse=True)
def tables(api: Api) -> None:
    upgrade(api.container.database.engine, {"share_links": register_tables()})


@pytest.fixture
def node(space: Space) -> Json:
    return space.upload("plan.txt", b"the plan")


def group_of(space: Space, name: str) -> str:
    """Make a group with the member, and return its id."""
    made = space.api.post(f"{space.tenant}/groups", {"name": name}, by=space.admin).json["id"]
    path = f"{space.tenant}/groups/{made}/members/{space.member.id}"
    assert space.api.put(path, {}, by=space.admin).status_code == 200
    return str(made)


class TestPeopleAndGroups:
    def test_a_person_gets_a_permission(self, space: Space, node: Json) -> None:
        page = space.page(node, "share")
        text = space.browser.open(page).text
        assert (
            f'<option value="user:{space.member.id}" data-name="&lt;b&gt;Bob" data-address="Member"'
            in text
        )
        space.send(f"{page}/grants", who=f"user:{space.member.id}", permission="write", until="")
        assert space.browser.message == "The access was saved."
        assert "<bdi>&lt;b&gt;Bob</bdi>" in space.browser.page.text
        assert space.permission(node) == "write"

    def test_a_permission_ends_with_a_day(self, space: Space, node: Json) -> None:
        page, who = space.page(node, "share"), f"user:{space.member.id}"
        space.browser.open(page)
        space.send(f"{page}/grants", who=who, permission="read", until="2100-02-03")
        assert 'value="2100-02-03"' in space.browser.page.text
        path = f"{space.tenant}/files/{node['id']}/owners"
        ends = [item["expiresAt"] for item in space.api.get(path, by=space.admin).json["data"]]
        assert "2100-02-03T23:59:59.000Z" in ends

    def test_a_day_that_stays_keeps_its_time(self, space: Space, node: Json) -> None:
        path = f"{space.tenant}/files/{node['id']}/owners"
        end = "2100-02-03T04:05:06Z"
        body = {"ownerId": space.member.id, "permission": "read", "expiresAt": end}
        assert space.api.post(path, body, by=space.admin).status_code == 201
        page, who = space.page(node, "share"), f"user:{space.member.id}"
        space.browser.open(page)
        space.send(f"{page}/grants", who=who, permission="write", until="2100-02-03", end=end)
        ends = [item["expiresAt"] for item in space.api.get(path, by=space.admin).json["data"]]
        assert "2100-02-03T04:05:06.000Z" in ends

    def test_a_day_in_the_past_and_no_day_are_refused(self, space: Space, node: Json) -> None:
        page, who = space.page(node, "share"), f"user:{space.member.id}"
        for until in ("2000-01-01", "tomorrow", "2100-99-99"):
            space.browser.open(page)
            space.send(f"{page}/grants", who=who, permission="read", until=until)
            assert 'role="alert"' in space.browser.page.text, until
        assert space.permission(node) == "none"

    def test_a_fault_is_at_the_field_of_its_form(self, space: Space, node: Json) -> None:
        page, who = space.page(node, "share"), f"user:{space.member.id}"
        space.grant(node, "read")
        # The forms of a grant in the list and of a new link have a field of one name.
        for action, part, field in (
            ("grants", who, "until-2"),
            ("links", "link", "link-until"),
        ):
            space.browser.open(page)
            form = {"who": who, "permission": "read", "kind": "read", "until": "2000-01-01"}
            sent = {**form, "csrf": csrf(space), "part": part}
            text = space.browser.open(f"{page}/{action}", sent).text
            assert re.findall(r'class="fault" id="([^"]*)"', text) == [f"{field}-fault"]
            assert text.count('value="2000-01-01"') == text.count('aria-invalid="true" autofocus') == 1
        for who in ("user:", "group:nothing"):
            space.send(f"{page}/grants", who=who, permission="read", until="", part="")
            assert 'id="who-fault"' in space.browser.page.text, who

    def test_a_removed_permission_is_granted_again(self, space: Space, node: Json) -> None:
        path, who = f"{space.tenant}/files/{node['id']}/owners", f"user:{space.member.id}"
        end = "2100-02-03T04:05:06.000Z"
        body = {"ownerId": space.member.id, "permission": "write", "expiresAt": end}
        assert space.api.post(path, body, by=space.admin).status_code == 201
        page = space.page(node, "share")
        space.browser.open(page)
        form = {"csrf": csrf(space), "who": who, "before": "write", "end": end}
        space.browser.open(f"{page}/revocations", form)
        assert space.permission(node) == "none"
        # The first form is that of the notice.
        assert space.browser.forms[f"{page}/grants"]["who"] == who
        space.send(f"{page}/grants")
        assert space.permission(node) == "write"
        grants = space.api.get(path, by=space.admin).json["data"]
        assert end in [grant["expiresAt"] for grant in grants]

    @pytest.mark.parametrize("before", ["owner", HOSTILE, ""])
    def test_a_removal_that_names_no_permission_has_no_undo(
        self, space: Space, node: Json, before: str
    ) -> None:
        space.grant(node, "read")
        page = space.page(node, "share")
        space.browser.open(page)
        form = {"csrf": csrf(space), "who": f"user:{space.member.id}", "before": before}
        space.browser.open(f"{page}/revocations", form)
        assert space.permission(node) == "none"
        assert ">Undo</button>" not in space.browser.page.text

    def test_an_address_is_invited_to_the_space(self, space: Space, node: Json) -> None:
        page = space.page(node, "share")
        space.browser.open(page)
        space.send(f"{page}/grants", who="invite:new@example.com", permission="read")
        assert "new@example.com" in space.browser.message
        invitations = space.api.get(f"{space.tenant}/invitations", by=space.admin).json["data"]
        assert [(item["email"], item["role"]) for item in invitations] == [("new@example.com", "member")]
        space.send(f"{page}/grants", who=f"invite:{HOSTILE}", permission="read")
        assert 'role="alert"' in space.browser.page.text
        assert "<img src=x" not in space.browser.page.text

    def test_only_administrators_invite_addresses(self, space: Space, node: Json) -> None:
        space.grant(node, "manage")
        space.log_in(space.member)
        page = space.page(node, "share")
        assert "data-invite" not in space.browser.open(page).text
        space.send(f"{page}/grants", who="invite:new@example.com", permission="read")
        assert 'role="alert"' in space.browser.page.text
        assert space.api.get(f"{space.tenant}/invitations", by=space.admin).json["data"] == []

    def test_a_group_gets_a_permission(self, space: Space, node: Json) -> None:
        group, page = group_of(space, HOSTILE), space.page(node, "share")
        text = space.browser.open(page).text
        assert "<img" not in text
        space.send(f"{page}/grants", who=f"group:{group}", permission="manage", until="")
        assert "&lt;img src=x" in space.browser.page.text
        assert space.permission(node) == "manage"
        form = {"csrf": csrf(space), "who": f"group:{group}"}
        space.browser.open(f"{page}/revocations", form)
        assert space.browser.message == "The access was removed."
        assert space.permission(node) == "none"

    def test_a_permission_is_revoked(self, space: Space, node: Json) -> None:
        space.grant(node, "read")
        page = space.page(node, "share")
        space.browser.open(page)
        form = {"csrf": csrf(space), "who": f"user:{space.member.id}"}
        space.browser.open(f"{page}/revocations", form)
        assert space.browser.message == "The access was removed."
        assert space.permission(node) == "none"

    def test_who_revokes_the_own_permission_returns_to_the_files(self, space: Space, node: Json) -> None:
        space.grant(node, "manage")
        space.log_in(space.member)
        page = space.page(node, "share")
        space.browser.open(page)
        form = {"csrf": csrf(space), "who": f"user:{space.member.id}"}
        space.browser.open(f"{page}/revocations", form)
        assert space.browser.path == f"{space.root}/files/"
        assert space.browser.message == "The access was removed."

    @pytest.mark.parametrize("permission", ["read", "write", None])
    def test_only_those_who_manage_share(self, space: Space, node: Json, permission: str | None) -> None:
        if permission:
            space.grant(node, permission)
        space.log_in(space.member)
        page, who = space.page(node, "share"), f"user:{space.member.id}"
        assert space.browser.open(page).status_code in (403, 404)
        form = {"csrf": csrf(space), "who": who, "permission": "manage", "until": ""}
        for action in ("grants", "revocations", "links"):
            space.browser.open(f"{page}/{action}", {**form, "kind": "read"})
        assert space.permission(node) == (permission or "none")
        assert space.api.get(f"{space.tenant}/shares", by=space.admin).json["data"] == []

    def test_an_unknown_person_is_refused(self, space: Space, node: Json) -> None:
        page = space.page(node, "share")
        for who in ("", "user:", "user:nobody", "group:../owners", "group:nothing", HOSTILE):
            space.browser.open(page)
            space.send(f"{page}/grants", who=who, permission="read", until="")
            assert 'role="alert"' in space.browser.page.text, who


class TestAccess:
    def test_the_reasons_of_each_member_are_shown(self, space: Space) -> None:
        folder = space.folder("Plans & <i>more")
        node = space.upload("plan.txt", b"x", folder["id"])
        group = group_of(space, "Finance")
        body = {"groupId": group, "permission": "read"}
        path = f"{space.tenant}/files/{folder['id']}/group-grants"
        assert space.api.post(path, body, by=space.admin).status_code == 201
        space.grant(node, "write")
        text = " ".join(space.browser.open(space.page(node, "access")).text.split())
        assert "administrator of the space" in text
        assert "Can edit · shared here" in text
        assert "through the group <bdi>Finance</bdi> · shared with the folder" in text
        assert f'href="{space.root}/nodes/{folder["id"]}"><bdi>Plans &amp; &lt;i&gt;more</bdi>' in text

    def test_others_see_only_their_own_permission(self, space: Space, node: Json) -> None:
        space.grant(node, "read")
        space.log_in(space.member)
        text = space.browser.open(space.page(node, "access")).text
        assert "<strong>Can view</strong>" in text
        assert "Alice" not in text


class TestLinks:
    def test_a_new_link_is_shown_to_copy_and_scan(self, space: Space, node: Json) -> None:
        self.create(space, node, kind="read", label=HOSTILE)
        text = space.browser.page.text
        assert "The link is ready." in text
        assert 'data-copy="link-url"' in text
        assert 'src="data:image/svg+xml' in text
        (share,) = self.shares(space)
        assert share["url"] in text
        assert (share["label"], share["audience"]) == (HOSTILE, "anyone")
        text = space.browser.open(space.page(node, "share")).text
        assert "<bdi>&lt;img src=x onerror=alert(1)&gt;</bdi>" in text

    def test_a_link_has_rules(self, space: Space, node: Json) -> None:
        self.create(
            space,
            node,
            kind="preview",
            password="Correct1Horse",
            maxDownloads="3",
            audience="users",
            userIds=[space.member.id],
            notify="true",
        )
        (share,) = self.shares(space)
        assert (share["kind"], share["hasPassword"], share["maxDownloads"]) == ("preview", True, 3)
        assert share["audience"] == {"userIds": [space.member.id]}
        assert share["notify"]

    def test_the_page_of_a_link_folds_what_is_rarely_changed(self, space: Space, node: Json) -> None:
        self.create(space, node, kind="read", label="Plan")
        (share,) = self.shares(space)
        path = f"{space.root}/shares/{share['id']}/"
        text = space.browser.open(path).text
        assert re.search(r"<details>\s*<summary>More options", text)
        assert 'popovertarget="link-menu"' in text
        assert f'href="{path}delete" data-asks' in text
        refused = space.browser.submit(path, maxDownloads="many")
        assert re.search(r"<details open>\s*<summary>More options", refused.text)

    def test_a_form_that_is_refused_keeps_its_input(self, space: Space, node: Json) -> None:
        for fields in (
            {"password": "short", "label": "Kept"},
            {"maxDownloads": "many", "label": "Kept"},
            {"until": "2100-01-01", "label": "Kept"},
            {"audience": "users", "label": "Kept"},
        ):
            self.create(space, node, kind="read", **fields)
            assert space.browser.page.status_code == 400, fields
            assert 'value="Kept"' in space.browser.page.text
            assert 'role="alert"' in space.browser.page.text
            assert '"short"' not in space.browser.page.text
        assert self.shares(space) == []

    def test_only_folders_receive_files(self, space: Space, node: Json) -> None:
        text = space.browser.open(space.page(node, "share")).text
        assert '<option value="drop"' not in text
        folder = space.folder("Inbox")
        assert '<option value="drop"' in space.browser.open(space.page(folder, "share")).text
        self.create(space, folder, kind="drop")
        assert [share["kind"] for share in self.shares(space)] == ["drop"]

    def test_a_link_is_changed(self, space: Space, node: Json) -> None:
        page = self.created(space, node)
        space.browser.open(page)
        space.send(page, label="For you", maxDownloads="5", audience="members", until="", password="")
        assert space.browser.message == "The link was changed."
        (share,) = self.shares(space)
        assert (share["label"], share["maxDownloads"], share["audience"]) == ("For you", 5, "members")
        assert share["hasPassword"]
        space.send(page, audience="members", until="", withoutPassword="true")
        assert not self.shares(space)[0]["hasPassword"]

    def test_each_rule_is_changed_alone(self, space: Space, node: Json) -> None:
        self.create(space, node, kind="read", label="Kept", password="Correct1Horse", maxDownloads="3")
        (share,) = self.shares(space)
        page = space.page(node, "share")
        day = str(date.fromisoformat(share["createdAt"][:10]) + timedelta(days=3))
        for fields, member, value in (
            ({"rule": "until", "until": day}, "expiresAt", f"{day}T23:59:59.000Z"),
            ({"rule": "maxDownloads", "maxDownloads": "7"}, "maxDownloads", 7),
            ({"rule": "maxDownloads", "maxDownloads": ""}, "maxDownloads", None),
            ({"rule": "password", "password": ""}, "hasPassword", True),
            ({"rule": "password", "withoutPassword": "true"}, "hasPassword", False),
            ({"rule": "password", "password": "Another1Horse"}, "hasPassword", True),
        ):
            space.browser.open(page)
            space.browser.open(f"{page}/links/{share['id']}", {"csrf": csrf(space), **fields})
            assert space.browser.message == "The link was changed.", fields
            (share,) = self.shares(space)
            assert share[member] == value, fields
            assert share["label"] == "Kept"

    @pytest.mark.parametrize(
        ("rule", "text"), [("until", "2000-01-01"), ("password", "short"), ("maxDownloads", "many")]
    )
    def test_a_refused_rule_has_its_fault_at_its_field(
        self, space: Space, node: Json, rule: str, text: str
    ) -> None:
        self.create(space, node, kind="read")
        (share,) = self.shares(space)
        page = space.page(node, "share")
        space.browser.open(page)
        form = {"csrf": csrf(space), "rule": rule, "part": f"{share['id']}-{rule}", rule: text}
        markup = space.browser.open(f"{page}/links/{share['id']}", form).text
        # The form is no popover now, which would hide the fault.
        assert f'<div class="fault-form" id="rule-{share["id"]}-{rule}"' in markup
        assert len(re.findall(r'class="fault"', markup)) == 1
        assert '"short"' not in markup

    def test_a_change_that_is_refused_keeps_its_input(self, space: Space, node: Json) -> None:
        page = self.created(space, node)
        space.browser.open(page)
        answer = space.send(page, label="Kept", password="short")
        assert answer.status_code == 400
        assert 'value="Kept"' in answer.text

    def test_a_link_that_was_changed_meanwhile_is_refused(self, space: Space, node: Json) -> None:
        page = self.created(space, node)
        space.browser.open(page)
        space.api.patch(self.path(space), {"label": "First"}, by=space.admin)
        space.send(page, label="Second")
        assert "revision" in space.browser.message
        assert self.shares(space)[0]["label"] == "First"

    def test_a_link_is_closed_and_opened_again(self, space: Space, node: Json) -> None:
        page = self.created(space, node)
        space.browser.open(page)
        space.send(f"{page}state")
        assert space.browser.message == "The link was closed."
        assert self.shares(space)[0]["state"] == "closed"
        assert "plan.txt" in space.browser.open(f"{space.root}/shares/?stale=true").text
        space.browser.open(page)
        space.send(f"{page}state")
        assert space.browser.message == "The link is open again."
        assert "plan.txt" not in space.browser.open(f"{space.root}/shares/?stale=true").text

    def test_a_link_is_deleted_after_a_question(self, space: Space, node: Json) -> None:
        page = self.created(space, node)
        text = space.browser.open(f"{page}delete").text
        assert "Delete this link?" in text
        assert len(self.shares(space)) == 1
        space.send(f"{page}delete")
        assert space.browser.message == "The link was deleted."
        assert self.shares(space) == []
        assert space.browser.open(page).status_code == 404

    def test_visitors_are_listed(self, space: Space, node: Json) -> None:
        self.create(space, node, kind="read")
        (share,) = self.shares(space)
        visited = share["url"].partition("/s/")[2]
        assert space.api.get(f"/s/{visited}/").status_code == 200
        assert space.api.get(f"/s/{visited}/plan.txt").status_code == 200
        text = space.browser.open(f"{space.root}/shares/{share['id']}/").text
        assert "Opened" in text

    def test_a_link_of_a_deleted_file_stays_in_the_list(self, space: Space, node: Json) -> None:
        page = self.created(space, node)
        path = f"{space.tenant}/files/{node['id']}"
        assert space.api.delete(path, by=space.admin).status_code == 200
        assert "A deleted file" in space.browser.open(f"{space.root}/shares/").text
        assert "The file was deleted" in space.browser.open(page).text

    def test_members_see_their_own_links_alone(self, space: Space, node: Json) -> None:
        page = self.created(space, node)
        space.log_in(space.member)
        text = space.browser.open(f"{space.root}/shares/").text
        assert "No links yet." in text
        assert space.browser.open(page).status_code == 404
        form = {"csrf": csrf(space), "closed": "true", "label": "Theirs"}
        for action in ("", "state", "delete"):
            assert "/s/" not in space.browser.open(f"{page}{action}", form).text
        assert [share["state"] for share in self.shares(space)] == ["active"]

    @pytest.mark.config(merged(CONFIG, {"plugins": {"share_links": {"secrets_readable": False}}}))
    def test_a_url_that_is_not_stored_is_shown_once(self, space: Space, node: Json) -> None:
        self.create(space, node, kind="read")
        assert "/s/" in space.browser.page.text
        (share,) = self.shares(space)
        text = space.browser.open(f"{space.root}/shares/{share['id']}/").text
        assert "cannot be shown again" in text
        assert "/s/" not in text

    @pytest.mark.config(merged(CONFIG, {"plugins": {"share_links": {"who": "nobody"}}}))
    def test_rules_that_forbid_links_are_explained(self, space: Space, node: Json) -> None:
        text = space.browser.open(space.page(node, "share")).text
        assert "do not allow links here" in text
        assert f'action="{space.page(node, "share")}/links"' not in text

    def create(self, space: Space, node: Json, **fields: str | list[str]) -> None:
        page = space.page(node, "share")
        space.browser.open(page)
        space.send(f"{page}/links", **fields)

    def created(self, space: Space, node: Json) -> str:
        """Create a link with a password, and return the path of its page."""
        self.create(space, node, kind="read", password="Correct1Horse")
        return f"{space.root}/shares/{self.shares(space)[0]['id']}/"

    def path(self, space: Space) -> str:
        return f"{space.tenant}/shares/{self.shares(space)[0]['id']}"

    def shares(self, space: Space) -> list[Json]:
        shares: list[Json] = space.api.get(f"{space.tenant}/shares", by=space.admin).json["data"]
        return shares


class TestWithoutThePlugin:
    pytestmark = pytest.mark.config(
        {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
    )

    def test_there_are_no_links(self, space: Space, node: Json) -> None:
        text = space.browser.open(space.page(node, "share")).text
        assert "People and groups" in text
        assert "New link" not in text
        assert "/shares/" not in text
        assert space.browser.open(f"{space.root}/shares/").status_code in (404, 501)


def csrf(space: Space) -> str:
    """Return the secret of the forms of the page."""
    return space.browser.forms["/console/logout"]["csrf"]


def test_the_form_of_a_link_keeps_people_whom_it_does_not_offer(
    space: Space, node: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"kind": "read", "audience": {"userIds": [space.member.id]}}
    path = f"{space.tenant}/files/{node['id']}/shares"
    share = space.api.post(path, body, by=space.admin).json["id"]
    monkeypatch.setattr("strongroom.plugin_api.visits.Visit.most_read", 1)
    monkeypatch.setattr("strongroom.plugin_api.paging.PAGE_SIZE", 1)
    root = space.page(node, "share").partition("/nodes/")[0]
    for query in ("", "?find=nobody"):
        page = space.browser.open(f"{root}/shares/{share}/{query}").text
        assert 'name="find"' in page
        assert f'name="userIds" value="{space.member.id}" checked' in page
