"""A tenant in the console: an administrator, a member, and a browser."""

from dataclasses import dataclass

from tests.support.api import Answer, Api, Json, Person
from tests.support.page_browser import PageBrowser


@dataclass
class ConsoleSpace:
    """A tenant with an administrator and a member, and the browser of one of them."""

    api: Api
    tenant: str
    admin: Person
    member: Person
    browser: PageBrowser

    @classmethod
    def made(cls, api: Api) -> "ConsoleSpace":
        """Make the tenant, and log the administrator in."""
        admin, member = api.person(name="Alice"), api.person(name="<b>Bob")
        space = cls(api, api.tenant(admin), admin, member, PageBrowser(api))
        api.join(space.tenant, admin, member)
        space.browser.log_in(admin.email)
        return space

    @property
    def root(self) -> str:
        """The path of the pages of the tenant."""
        return f"/console{self.tenant.removeprefix('/api/v1')}"

    def page(self, node: Json, tab: str = "") -> str:
        """Return the path of a page of a file or folder."""
        return f"{self.root}/nodes/{node['id']}" + (f"/{tab}" if tab else "")

    def upload(self, name: str, content: bytes, parent: str | None = None) -> Json:
        """Upload a file as the administrator."""
        return self.api.upload(self.tenant, self.admin, name, content, parent)

    def folder(self, name: str, parent: str | None = None) -> Json:
        """Make a folder as the administrator."""
        return self.api.folder(self.tenant, self.admin, name, parent)

    def grant(self, node: Json, permission: str) -> None:
        """Grant the member a permission."""
        body = {"ownerId": self.member.id, "permission": permission}
        path = f"{self.tenant}/files/{node['id']}/owners"
        assert self.api.post(path, body, by=self.admin).status_code == 201

    def permission(self, node: Json) -> str:
        """Return the permission of the member."""
        answer = self.api.get(f"{self.tenant}/files/{node['id']}", by=self.member)
        return str(answer.json["permission"]) if answer.status_code == 200 else "none"

    def replace(self, node: Json, content: bytes) -> None:
        """Replace the content of a file as the administrator."""
        headers = {"Content-Disposition": 'attachment; filename="new"'}
        path = f"{self.tenant}/files/{node['id']}/content"
        answer = self.api.request("PUT", path, by=self.admin, headers=headers, data=content)
        assert answer.status_code == 200, answer.text

    def send(self, action: str, **fields: str | list[str]) -> Answer:
        """Fill in a form of the page, and send it."""
        return self.browser.open(action, {**self.browser.forms[action], **fields})

    def log_in(self, person: Person) -> None:
        """Log another person in, in another browser."""
        self.browser = PageBrowser(self.api)
        self.browser.log_in(person.email)
