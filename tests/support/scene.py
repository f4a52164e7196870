"""A tenant with its administrator and two members, and their actions on its files."""

from strongroom.clock import iso_format
from strongroom.testing.clock import HOUR
from tests.support.api import Answer, Api, Json, Person, creation_headers


class Scene:
    """A tenant with its administrator and members."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.admin, self.alice, self.bob = (api.person(name=name) for name in ("Admin", "Alice", "Bob"))
        self.path = api.tenant(self.admin)
        for member in (self.alice, self.bob):
            api.join(self.path, self.admin, member)

    def grant(
        self, node: Json, user: Person, permission: str, *, by: Person | None = None, hours: int = 0
    ) -> Answer:
        """Try to grant a permission, for some hours or permanently."""
        body = {"ownerId": user.id, "permission": permission}
        if hours:
            body["expiresAt"] = iso_format(self.api.clock.now() + hours * HOUR)
        return self.api.post(f"{self.path}/files/{node['id']}/owners", body, by=by or self.admin)

    def revoke(self, node: Json, user: Person, *, by: Person | None = None) -> Answer:
        """Try to take it back."""
        return self.api.delete(f"{self.path}/files/{node['id']}/owners/{user.id}", by=by or self.admin)

    def folder(self, name: str, parent: Json | None = None, by: Person | None = None) -> Json:
        """Make a folder."""
        return self.api.folder(self.path, by or self.admin, name, parent["id"] if parent else None)

    def file(
        self, name: str, parent: Json | None = None, by: Person | None = None, content: bytes = b"x"
    ) -> Json:
        """Upload a file."""
        return self.api.upload(
            self.path, by or self.admin, name, content, parent["id"] if parent else None
        )

    def top(self, user: Person) -> list[str]:
        """Return the names that a user sees at the top."""
        listed = self.api.get(f"{self.path}/owners/{user.id}/files", by=user).json
        assert listed["meta"]["totalCount"] == len(listed["data"])
        return [item["name"] for item in listed["data"]]

    def permission(self, node: Json, user: Person) -> str | None:
        """Return a user's permission on a node."""
        answer = self.api.get(f"{self.path}/files/{node['id']}", by=user)
        return answer.json["permission"] if answer.status_code == 200 else None

    def token_of(self, user: Person) -> None:
        """Log in again, because tokens expire when time passes."""
        user.token = self.api.log_in(user.email).headers["X-Access-Token"]

    def upload_by_tus(self, user: Person, folder: Json) -> str:
        """Upload a file into a folder by a resumable upload of one part; return its id."""
        headers = {
            **creation_headers(1, filename="made", parentId=folder["id"]),
            "Content-Type": "application/offset+octet-stream",
        }
        answer = self.api.request("POST", f"{self.path}/uploads", by=user, headers=headers, data=b"x")
        assert answer.status_code == 201, answer.text
        listed = self.api.get(f"{self.path}/owners/me/files/{folder['id']}/files", by=user).json
        return str(next(item["id"] for item in listed["data"] if item["name"] == "made"))
