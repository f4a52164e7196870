"""The pages of the console."""

from typing import Any, Final

from strongroom.testing.server import LiveUser
from tests.support.browser_pages import Screen, Visitor
from tests.support.screens.stage import Stage
from tests.support.screens.steps import open_as

_MY_FILES: Final = "console/my_files"
_SERVER: Final = "console/server"
_TENANT: Final = "console/tenant"


def shown_to(name: str, path: str) -> Any:
    """Return a function that opens a page of the console as a user of the stage.

    Args:
        name: the attribute of the stage with the user.
        path: the path below that of the console; ``{tenant}`` and such are attributes of the stage.
    """

    def open_page(visitor: Visitor) -> None:
        user: LiveUser = getattr(visitor.stage, name)
        open_as(visitor, user.email, "/console" + _filled(path, visitor.stage))

    return open_page


def _filled(path: str, stage: Stage) -> str:
    parts = path.split("/")
    return "/".join(_value(stage, part[1:-1]) if part.startswith("{") else part for part in parts)


def _value(stage: Stage, name: str) -> str:
    value = getattr(stage, name)
    return value.id if isinstance(value, LiveUser) else str(value)


def of_file(page: str = "") -> Any:
    """Return a function that opens a page of a file with an earlier content."""
    return shown_to("maker", f"/tenants/{{tenant}}/nodes/{{versioned}}{page}")


def show_lock(visitor: Visitor) -> None:
    """Open the page of a file that is locked."""
    file = visitor.stage.locked
    shown_to("maker", f"/tenants/{{tenant}}/nodes/{file}")(visitor)


def show_sharing(visitor: Visitor) -> None:
    """Open the page of sharing of a file that has a link and people with access."""
    _ = visitor.stage.link, visitor.stage.reader
    of_file("/share")(visitor)


def create_link(visitor: Visitor) -> None:
    show_sharing(visitor)
    visitor.press("details:has(form[action$='/share/links']) > summary")
    visitor.press("form[action$='/share/links'] button")


def select_files(visitor: Visitor, operation: str) -> str:
    """Press the button of an operation for two new files, and return the id of one."""
    files: list[str] = visitor.stage.new_files(2)
    of_tenant("files/?sort=-updatedAt")(visitor)
    for file in files:
        visitor.page.locator(f"#selection [value='{file}']").check()
    visitor.press(f"#selection button[formaction$='/{operation}']")
    return files[0]


def choose_destination(visitor: Visitor) -> None:
    select_files(visitor, "copy")


def fail_to_move(visitor: Visitor) -> None:
    stage = visitor.stage
    assert stage.folder
    file = select_files(visitor, "move")
    stage.server.succeed("DELETE", f"/api/v1/tenants/{stage.tenant}/files/{file}", by=stage.maker)
    visitor.press(".choices button")
    visitor.press("button[formaction$='/move-here']")


def delete_file(visitor: Visitor) -> None:
    select_files(visitor, "delete")


def of_tenant(page: str) -> Any:
    """Return a function that opens a page of the space as its administrator."""
    return shown_to("maker", f"/tenants/{{tenant}}/{page}")


def create_server_key(visitor: Visitor) -> None:
    of_server("service-accounts/{server_account}/")(visitor)
    visitor.press("[commandfor=new-key]")
    visitor.fill(name="Laptop")
    visitor.page.locator("form[action$='/keys'] [type=checkbox]").first.check()
    visitor.press("form[action$='/keys'] button:not([type=button])")


def of_server(page: str) -> Any:
    """Return a function that opens a page of the server as an administrator of it."""
    return shown_to("root", f"/server/{page}")


def save_value_without_key(visitor: Visitor) -> None:
    of_server("users/{maker}/metadata")(visitor)
    visitor.fill(value="Acme")
    visitor.press("form[action*='/metadata/rows'] button")


def create_password_link(visitor: Visitor) -> None:
    of_server("users/{colleague}/sessions")(visitor)
    visitor.press("details:has(form[action$='/links']) > summary")
    visitor.page.locator("[name=send]").uncheck()
    visitor.press("form[action$='/links'] button")


def remove_members(visitor: Visitor) -> None:
    of_tenant("members/")(visitor)
    visitor.page.locator("[name=user]").first.check()
    visitor.press("[name=change][value=remove]")


def open_trash(visitor: Visitor) -> None:
    visitor.stage.new_trash()
    of_tenant("trash/")(visitor)


def remove_from_trash(visitor: Visitor) -> None:
    open_trash(visitor)
    visitor.page.locator("#selection [name=node]").first.check()
    visitor.press("button[formaction$='/trash/remove']")


def create_key(visitor: Visitor) -> None:
    of_tenant("service-accounts/{account}/")(visitor)
    visitor.press("[commandfor=new-key]")
    visitor.fill(name="Laptop")
    visitor.page.locator("[name=scopes]").first.check()
    visitor.press("form[action$='/keys'] button:not([type=button])")


CONSOLE: Final = (
    Screen("home without a space", "console/home", shown_to("alice", "/")),
    Screen("home of an administrator", "console/home", shown_to("root", "/")),
    Screen("search of everything", "console/find", shown_to("maker", "/find?q=a")),
    Screen(
        "design",
        "console/design",
        shown_to("root", "/design"),
        names=r"PDF|[\w.]+@acme\.example|Lin Wei|Mara Klein|张燕|法务?|预算 2027\.xlsx",
    ),
    Screen("missing page of the console", "console/fault", shown_to("maker", "/nowhere")),
    Screen("space", f"{_MY_FILES}/folder", shown_to("maker", "/tenants/{tenant}/files/")),
    Screen("folder", f"{_MY_FILES}/folder", shown_to("maker", "/tenants/{tenant}/files/{folder}/")),
    Screen("details of a file", f"{_MY_FILES}/node_details", of_file()),
    Screen("versions of a file", f"{_MY_FILES}/node_versions", of_file("/versions")),
    Screen("one version of a file", f"{_MY_FILES}/node_version", of_file("/versions/1")),
    Screen("activity of a file", f"{_MY_FILES}/node_activity", of_file("/activity")),
    Screen("access to a file", f"{_MY_FILES}/node_access", of_file("/access")),
    Screen("sharing of a file", f"{_MY_FILES}/node_share", show_sharing),
    Screen("new link", f"{_MY_FILES}/share_created", create_link),
    Screen("new name of a file", f"{_MY_FILES}/rename", of_file("/rename")),
    Screen("destination of a copy", f"{_MY_FILES}/destination", choose_destination),
    Screen("move of a deleted file", f"{_MY_FILES}/failures", fail_to_move),
    Screen("links", f"{_MY_FILES}/shares", of_tenant("shares/")),
    Screen("link", f"{_MY_FILES}/share", of_tenant("shares/{link}/")),
    Screen("removal of a link", f"{_MY_FILES}/share_delete", of_tenant("shares/{link}/delete")),
    Screen("activity of a space", f"{_TENANT}/activity", of_tenant("activity/")),
    Screen("invitations of a space", f"{_TENANT}/invitations", of_tenant("invitations/")),
    Screen("retention", f"{_TENANT}/retention", of_tenant("retention/")),
    Screen("rules for links", f"{_TENANT}/share_policy", of_tenant("share-policy/")),
    Screen("details of a locked file", f"{_MY_FILES}/node_details", show_lock),
    Screen("holds of a file", f"{_MY_FILES}/node_hold", of_file("/hold")),
    Screen("shared with the user", f"{_MY_FILES}/shared", of_tenant("shared/")),
    Screen("trash", f"{_MY_FILES}/trash", open_trash),
    Screen("removal from the trash", f"{_MY_FILES}/removal", remove_from_trash),
    Screen("emptying of the trash", f"{_MY_FILES}/trash_emptying", of_tenant("trash/empty")),
    Screen("webhooks", f"{_TENANT}/webhooks", of_tenant("webhooks/")),
    Screen("new webhook", f"{_TENANT}/webhook_new", of_tenant("webhooks/new")),
    Screen("webhook", f"{_TENANT}/webhook", of_tenant("webhooks/{endpoint}/")),
    Screen("deliveries", f"{_TENANT}/webhook_deliveries", of_tenant("webhooks/{endpoint}/deliveries")),
    Screen(
        "removal of a webhook", f"{_TENANT}/webhook_removal", of_tenant("webhooks/{endpoint}/removal")
    ),
    Screen("service accounts", f"{_TENANT}/service_accounts", of_tenant("service-accounts/")),
    Screen("service account", f"{_TENANT}/service_account", of_tenant("service-accounts/{account}/")),
    Screen(
        "removal of an account",
        f"{_TENANT}/account_removal",
        of_tenant("service-accounts/{account}/removal"),
    ),
    Screen("new key", f"{_TENANT}/secret", create_key),
    Screen("members", f"{_TENANT}/members", of_tenant("members/")),
    Screen("member", f"{_TENANT}/member", of_tenant("members/{colleague}/")),
    Screen("removal of a member", f"{_TENANT}/member_removal", of_tenant("members/{colleague}/removal")),
    Screen("removal of members", f"{_TENANT}/members_removal", remove_members),
    Screen("leaving a space", f"{_TENANT}/leave", of_tenant("leave")),
    Screen("groups", f"{_TENANT}/groups", of_tenant("groups/")),
    Screen("group", f"{_TENANT}/group", of_tenant("groups/{group}/")),
    Screen("removal of a group", f"{_TENANT}/group_removal", of_tenant("groups/{group}/removal")),
    Screen("usage", f"{_TENANT}/usage", of_tenant("usage/")),
    Screen("settings of a space", f"{_TENANT}/settings", of_tenant("settings/")),
    Screen("deletion of a space", f"{_TENANT}/deletion", of_tenant("settings/deletion")),
    Screen("server", f"{_SERVER}/overview", of_server("")),
    *(
        Screen(f"server: {name}", f"{_SERVER}/{name}", of_server(f"{name}/"))
        for name in ("health", "storages", "plugins", "limits", "jobs", "messages")
    ),
    # The descriptions of the keys are English, with Chinese examples, and some titles have names.
    Screen(
        "server: settings",
        f"{_SERVER}/settings",
        of_server("settings/"),
        names="[\u4e00-\u9fff]+|Webhook|Redis|TLS|HTTP/2|API|/docs|ICP|ZIP",
    ),
    Screen("spaces", f"{_SERVER}/spaces", of_server("tenants/")),
    Screen("space, for the server", f"{_SERVER}/space", of_server("tenants/{tenant}/")),
    Screen("deletion by the server", f"{_SERVER}/question", of_server("tenants/{tenant}/deletion")),
    Screen("audit log", f"{_SERVER}/audit", of_server("audit/")),
    Screen("chain of the audit log", f"{_SERVER}/audit_chain", of_server("audit/chain")),
    Screen("logins", f"{_SERVER}/logins", of_server("logins/")),
    Screen("imports", f"{_SERVER}/imports", of_server("imports/")),
    Screen("import", f"{_SERVER}/import", of_server("imports/{user_import}/")),
    Screen("quarantine", f"{_SERVER}/quarantine", of_server("quarantine/")),
    Screen("release", f"{_SERVER}/question", of_server("quarantine/{scan}/release")),
    Screen("accounts of the server", f"{_SERVER}/service_accounts", of_server("service-accounts/")),
    Screen(
        "account of the server",
        f"{_SERVER}/service_account",
        of_server("service-accounts/{server_account}/"),
    ),
    Screen(
        "deletion of an account of the server",
        f"{_SERVER}/question",
        of_server("service-accounts/{server_account}/deletion"),
    ),
    Screen("new key of the server", f"{_SERVER}/service_account_key", create_server_key),
    Screen("users", f"{_SERVER}/users", of_server("users/")),
    Screen("new user", f"{_SERVER}/new_user", of_server("users/new")),
    Screen("user", f"{_SERVER}/user", of_server("users/{colleague}/")),
    Screen("sessions of a user", f"{_SERVER}/user_sessions", of_server("users/{maker}/sessions")),
    Screen("spaces of a user", f"{_SERVER}/user_spaces", of_server("users/{maker}/spaces")),
    Screen("user without spaces", f"{_SERVER}/user_spaces", of_server("users/{alice}/spaces")),
    Screen("activity of a user", f"{_SERVER}/user_activity", of_server("users/{maker}/activity")),
    Screen("keys of a user", f"{_SERVER}/user_keys", of_server("users/{maker}/keys")),
    Screen("metadata of a user", f"{_SERVER}/user_metadata", of_server("users/{maker}/metadata")),
    Screen("metadata with a fault", f"{_SERVER}/user_metadata", save_value_without_key),
    Screen("deletion of a user", f"{_SERVER}/user_deletion", of_server("users/{colleague}/deletion")),
    Screen("link for a password", f"{_SERVER}/user_secret", create_password_link),
)

WITHOUT_TRASH: Final = (Screen("deletion", f"{_MY_FILES}/deletion", delete_file),)
