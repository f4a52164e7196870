"""The contract tests of documents by which clients discover a service."""

import json

from strongroom.testing.state import OpenedPlugin


class DiscoveryContract:
    """The rules of ``register_discovery``. Requires a fixture ``opened``."""

    def test_there_are_documents_with_members(self, opened: OpenedPlugin) -> None:
        assert opened.discovery
        for document in opened.discovery:
            assert document.members, f"{document.name} has no members"

    def test_each_document_is_json(self, opened: OpenedPlugin) -> None:
        for document in opened.discovery:
            members = dict(document.members)
            assert json.loads(json.dumps(members)) == members, f"{document.name} changes as JSON"

    def test_an_issuer_is_this_server(self, opened: OpenedPlugin) -> None:
        for document in opened.discovery:
            assert document.members.get("issuer", opened.host.public_url) == opened.host.public_url
