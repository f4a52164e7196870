"""Contract tests for kinds of resources that a file declares."""

from pathlib import Path

import pytest

from strongroom.testing.server import LiveServer, LiveUser, ServerFailed


class ResourceKindsContract:
    """The rules of ``register_resource_kinds``. Provide the fixture ``declaration``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` that has the plugin enabled.
    """

    @pytest.fixture
    def declaration(self) -> str:
        """The text of a file in TOML with a resource of each kind of the plugin."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def administrator(self, server: LiveServer) -> LiveUser:
        return server.user(admin=True)

    def test_a_second_run_changes_nothing_and_what_leaves_the_file_is_deleted(
        self, server: LiveServer, administrator: LiveUser, declaration: str, tmp_path: Path
    ) -> None:
        self._apply(server, administrator, tmp_path, declaration, "--plan", exits=True)
        assert self._apply(server, administrator, tmp_path, declaration).startswith("+ ")
        again = self._apply(server, administrator, tmp_path, declaration, "--plan")
        assert again.startswith("0 to create, 0 to change, 0 to delete"), again
        assert self._apply(server, administrator, tmp_path, "", "--prune").startswith("- ")
        assert self._apply(server, administrator, tmp_path, "", "--prune").startswith("0 to create")

    def test_a_member_that_no_kind_has_is_refused(
        self, server: LiveServer, administrator: LiveUser, declaration: str, tmp_path: Path
    ) -> None:
        with pytest.raises(ServerFailed, match="no_such_member: unknown"):
            self._apply(server, administrator, tmp_path, f"no_such_member = 1\n{declaration}")

    def _apply(
        self,
        server: LiveServer,
        administrator: LiveUser,
        folder: Path,
        declaration: str,
        *options: str,
        exits: bool = False,
    ) -> str:
        path = folder / "state.toml"
        path.write_text(f'set = "contract"\n{declaration}', encoding="utf-8")
        arguments = ("apply", "-f", str(path), "--as", administrator.email, *options)
        if not exits:
            return server.command(*arguments)
        with pytest.raises(ServerFailed):
            server.command(*arguments)
        return ""
