"""Programs that use files by WebDAV, with an access key as the password."""

import base64
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser
from tests.support.agents import make_key
from tests.support.api import Answer, Api, Json, Person

PLUGINS: Final = ["storage_local", "webdav"]
SCOPES: Final = ("files:share",)
"""The scope of a key with which everything is possible but to read the quota."""

DAV: Final = "{DAV:}"


def basic(key: str, name: str = "any") -> str:
    """Return the value of Authorization with a key as the password."""
    return "Basic " + base64.b64encode(f"{name}:{key}".encode()).decode()


@dataclass
class Drive:
    """A mounted space."""

    api: Api
    key: str
    space: str = "Acme"
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_person(
        cls, api: Api, person: Person, *scopes: str, space: str = "Acme", **limits: Any
    ) -> "Drive":
        """Return a drive with a new key."""
        key = make_key(api, person, *(scopes or SCOPES), **limits).token
        assert key is not None
        return cls(api, key, space)

    def path(self, path: str) -> str:
        """Return the path of a file on the server, percent-encoded."""
        return "/dav/" + quote(f"{self.space}/{path}")

    def send(self, method: str, path: str = "", body: bytes = b"", **headers: Any) -> Answer:
        """Send a request. Names of headers have underscores in place of hyphens."""
        sent = {name.replace("_", "-"): str(value) for name, value in headers.items()}
        sent = {"Authorization": basic(self.key), **self.headers, **sent}
        return self.api.request(method, self.path(path), headers=sent, data=body)

    def put(self, path: str, content: bytes, **headers: Any) -> Answer:
        """Store a file."""
        return self.send("PUT", path, content, **headers)

    def transfer(self, method: str, path: str, to: str, **headers: Any) -> Answer:
        """Copy or move a file."""
        return self.send(method, path, Destination=f"{self.site}{self.path(to)}", **headers)

    @property
    def site(self) -> str:
        """The public URL of the server."""
        return self.api.container.hosts.get("webdav").public_url

    def content(self, path: str) -> bytes:
        """Return the content of a file."""
        answer = self.send("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.data

    def names(self, path: str = "") -> list[str]:
        """Return the names in a folder."""
        members = self.properties(path, depth=1)
        own = self.path(path).rstrip("/")
        return [href[len(own) + 1 :] for href in members if href.rstrip("/") != own]

    def properties(self, path: str = "", *names: str, depth: int = 0) -> dict[str, dict[str, Element]]:
        """Return the properties of resources by their paths on the server, and by their names."""
        prop = "".join(_empty_element(name) for name in names)
        body = f'<propfind xmlns="DAV:"><prop>{prop}</prop></propfind>'.encode() if names else b""
        answer = self.send("PROPFIND", path, body, Depth=depth)
        assert answer.status_code == 207, answer.text
        return read_multistatus(answer)

    def value(self, path: str, name: str) -> str | None:
        """Return the text of a property, ``None`` without it."""
        ((_, properties),) = self.properties(path, name).items()
        return properties[name].text or "" if name in properties else None


def make_live_key(server: LiveServer, user: LiveUser) -> str:
    """Make an access key for a drive on a live server."""
    body = {"name": "drive", "scopes": SCOPES, "currentPassword": PASSWORD}
    key: str = server.succeed("POST", "/users/me/access-keys", by=user, json_body=body)["key"]
    return key


def _empty_element(name: str) -> str:
    namespace, _, local = name[1:].partition("}")
    return f'<x:{local} xmlns:x="{namespace}"/>'


def read_multistatus(answer: Answer) -> dict[str, dict[str, Element]]:
    """Return the properties with the status 200 by path and name."""
    result: dict[str, dict[str, Element]] = {}
    for response in fromstring(answer.data):
        properties = result.setdefault(response.findtext(f"{DAV}href", ""), {})
        for propstat in response.findall(f"{DAV}propstat"):
            if " 200 " in propstat.findtext(f"{DAV}status", ""):
                properties.update({item.tag: item for item in propstat.find(f"{DAV}prop") or []})
    return result


def locked_body(scope: str = "exclusive", owner: str = "Tester") -> bytes:
    """Return the body of a LOCK."""
    return (
        f'<lockinfo xmlns="DAV:"><lockscope><{scope}/></lockscope><locktype><write/></locktype>'
        f"<owner>{owner}</owner></lockinfo>"
    ).encode()


@dataclass
class Space:
    """A space of a person, with a drive."""

    api: Api
    person: Person
    path: str
    drive: Drive

    @classmethod
    def made(cls, api: Api) -> "Space":
        """Make a person, a space and a drive."""
        person = api.person()
        return cls(api, person, api.tenant(person), Drive.of_person(api, person))

    def upload(self, name: str, content: bytes, parent: str | None = None) -> Json:
        """Upload a file by REST."""
        return self.api.upload(self.path, self.person, name, content, parent)

    def node(self, file_id: str) -> Json:
        """Return a file or folder as REST does."""
        answer = self.api.get(f"{self.path}/files/{file_id}", by=self.person)
        assert answer.status_code == 200, answer.text
        node: Json = answer.json
        return node
