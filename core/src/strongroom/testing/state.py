"""Contracts of a plugin's options, tables, jobs and life cycle, and its host without a server.

The contracts use a fixture of the plugin's tests::

    @pytest.fixture
    def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
        with opened_plugin(tmp_path, "acme") as opened:
            yield opened

    class TestJobs(JobsContract):
        pass
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.deactivation import DeactivationCause
from strongroom.plugin_api.discovery import DiscoveryDocument
from strongroom.plugin_api.erasers import RemovedFiles
from strongroom.plugin_api.events import EventType
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.login import Client, Credential, LoginAttempt, VerifiedCredential
from strongroom.plugin_api.login_conditions import CheckLogin
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import ApiError
from strongroom.testing.clock import ManualClock
from strongroom.testing.server import to_toml

_NO_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Run:
    """Implements :class:`strongroom.plugin_api.jobs.JobRun`."""

    should_stop: bool = False


@dataclass(frozen=True, slots=True)
class OpenedPlugin:
    """A plugin that was loaded with the services of a server, but without a server.

    Args:
        name: the name of the plugin.
        host: its host; methods for requests cannot be called.
        clock: the clock of the services.
        services: the container of the services, which is no part of the plugin API.
    """

    name: str
    host: HostAPI
    clock: ManualClock
    services: Any

    @property
    def jobs(self) -> Mapping[str, Job]:
        """The jobs of the plugin by their names, such as ``prune``."""
        prefix = f"{self.name}."
        jobs: Mapping[str, Job] = self.services.jobs()
        return {name.removeprefix(prefix): job for name, job in jobs.items() if name.startswith(prefix)}

    @property
    def prune_steps(self) -> Mapping[str, PruneStep]:
        """The prune steps of the plugin by their names, such as ``drafts``."""
        prefix = f"{self.name}."
        steps: Mapping[str, PruneStep] = self.services.registry.prune_steps
        return {step.name: step for name, step in steps.items() if name.startswith(prefix)}

    @property
    def user_exports(self) -> Sequence[UserExport]:
        """The files of the plugin in archives of users' data."""
        calls = self.services.hosts.call("register_user_exports")
        return [export for plugin, export in calls if plugin.name == self.name]

    @property
    def discovery(self) -> Sequence[DiscoveryDocument]:
        """The documents by which clients discover the plugin."""
        calls = self.services.hosts.call("register_discovery")
        return [document for plugin, document in calls if plugin.name == self.name]

    @property
    def token_types(self) -> Sequence[str]:
        """The types of tokens that the plugin signs for other services."""
        types: Mapping[str, Sequence[str]] = self.services.selection.plugins.token_types
        return types.get(self.name, ())

    @property
    def tables(self) -> PluginTables:
        """The tables of the plugin."""
        tables: PluginTables = self.services.selection.plugins.tables[self.name]
        return tables

    @property
    def event_types(self) -> Mapping[str, EventType]:
        """The types of events of the plugin by the actions of their records, such as ``create``."""
        prefix = f"{self.name}."
        types: Mapping[str, EventType] = self.services.selection.plugins.event_types
        own = [name for name in types if name.startswith(prefix)]
        return {name.removeprefix(prefix): types[name] for name in own}

    def create_user(
        self, name: str = "Alice", *, admin: bool = False, contact: Credential | None = None
    ) -> str:
        """Create a user, perhaps an administrator of the server, and return the id.

        Args:
            contact: an e-mail address or mobile number that the user has verified.
        """
        kind = import_module("strongroom.identity.users.models").UserType["ADMIN" if admin else "USER"]
        with self.services.database.write() as connection:
            users = import_module("strongroom.identity.users.service").UserService
            user = self.services.get(users).create(connection, name, kind)
            if contact is not None:
                self._bind(connection, user.id, contact)
        return str(user.id)

    def credentials(self, user_id: str) -> list[Credential]:
        """Return the credentials of a user, oldest first."""
        with self.services.database.read() as connection:
            rows = self._credentials.of_user(connection, user_id)
        return [Credential(row.kind, row.value) for row in rows]

    def log_in(self, attempt: LoginAttempt) -> str:
        """Log in as a client does, and return the id of the user.

        Raises:
            ApiError: the attempt is refused.
        """
        service = import_module("strongroom.identity.sessions.login").LoginService
        return str(self.services.get(service).log_in(attempt).user.id)

    def create_tenant(self, user_id: str, name: str = "Acme") -> str:
        """Create a tenant that a user administers, and return the id."""
        caller = import_module("strongroom.foundation.caller")
        service = import_module("strongroom.content.tenants.service").TenantService
        identity = caller.Identity(user_id, caller.ADMIN, "")
        return str(self.services.get(service).create(identity, name, caller.Origin()).id)

    def create_group(self, tenant_id: str, name: str, user_id: str) -> str:
        """Create a group as an administrator of the tenant, and return the id."""
        caller = import_module("strongroom.foundation.caller")
        service = import_module("strongroom.content.tenants.groups.service").GroupService
        identity = caller.Identity(user_id, caller.ADMIN, "")
        return str(self.services.get(service).create(identity, tenant_id, name, caller.Origin()).id)

    def create_directory(self, tenant_id: str, user_id: str, *, may_write: bool = True) -> str:
        """Register a service account as a directory, as an administrator; return the account's id."""
        caller = import_module("strongroom.foundation.caller")
        service = import_module("strongroom.extensions.service_accounts.service").ServiceAccountService
        identity = caller.Identity(user_id, caller.ADMIN, "")
        account = self.services.get(service).create(identity, tenant_id, "Directory", caller.Origin())
        with self.host.acting_as(user_id):
            provisioning = self.host.provisioning
            provisioning.register_directory(tenant_id, "Directory", account.id, may_write=may_write)
        return str(account.id)

    @contextmanager
    def acting_as_directory(self, tenant_id: str, account_id: str) -> Iterator[None]:
        """Let the plugin act as a service account with a key of the tenant for users and groups."""
        caller = import_module("strongroom.foundation.caller")
        acting = import_module("strongroom.assembly.plugin_host.acting")
        scopes = frozenset({Scope.USERS_READ.value, Scope.USERS_WRITE.value})
        key = caller.KeyLimits("", scopes, tenant_id, None, 0)
        identity = caller.Identity(account_id, caller.SERVICE, "", key=key)
        with acting.acting_with(identity):
            yield

    def begin_login(self, user_id: str, method: str, verified: VerifiedCredential) -> str:
        """Bind a credential to a user, begin a login that it proves, and return an access token."""
        sessions = import_module("strongroom.identity.sessions.services").SessionServices
        sources = import_module("strongroom.identity.sessions.login_sources").LoginSources
        source = sources(self.services.base.keys).find(verified)
        changes = import_module("strongroom.foundation.database.changes")
        with self.services.database.write() as connection:
            if not self._credentials.find_users(connection, [verified.credential]):
                self._bind(connection, user_id, verified.credential)
            accounts = import_module("strongroom.identity.users.accounts")
            user = accounts.lock_account(connection, user_id).user
            issuer = self.services.group(sessions).token_issuer
            client = Client("192.0.2.7", "contract/1.0")
            issued, stored = issuer.begin(connection, user, method, verified.assurance, client, source)
            changes.execute_together(connection, stored)
        return str(issued.access_token)

    @property
    def _credentials(self) -> Any:
        module = import_module("strongroom.identity.users.credentials")
        return self.services.get(module.CredentialService)

    def _bind(self, connection: Any, user_id: str, credential: Credential) -> None:
        rules = import_module("strongroom.identity.users.credential_changes")
        self._credentials.bind(connection, user_id, credential)
        self.services.get(rules.CredentialChanges).settle(connection, rules.ChangedBy(user_id))

    def is_valid(self, token: str) -> bool:
        """Return whether the login of an access token has not ended."""
        service = import_module("strongroom.identity.sessions.service").AuthorizationService
        try:
            self.services.get(service).verify(token)
        except ApiError:
            return False
        return True

    def deactivate(self, user_id: str, cause: DeactivationCause) -> None:
        """End what a user can do, as a suspension does, or as a removal from a tenant."""
        module = import_module("strongroom.identity.accounts.deactivation")
        tenant_id = "another" if cause is DeactivationCause.MEMBERSHIP_END else None
        with self.services.database.write() as connection:
            service = self.services.get(module.Deactivations)
            service.deactivate(connection, user_id, cause, tenant_id=tenant_id)

    def erase_files(self, tenant_id: str, file_ids: Sequence[str]) -> None:
        """Call the erasers of files of the plugin, as a removal of the files does."""
        for erase in self.services.registry.plugin(self.name).register_file_erasers():
            with self.services.database.write() as connection:
                erase(connection, RemovedFiles(tenant_id, file_ids))

    def erase_tenant(self, tenant_id: str) -> None:
        """Call the erasers of tenants of the plugin, as a purge of the tenant does."""
        for erase in self.services.registry.plugin(self.name).register_tenant_erasers():
            erase(tenant_id)

    def check_login(
        self,
        user_id: str,
        method: str,
        verified: VerifiedCredential | None = None,
        *,
        also: CheckLogin | None = None,
    ) -> None:
        """Call the conditions of logins of the plugin, as a login does.

        Args:
            also: a further condition, which is called after the plugin's.

        Raises:
            ApiError: the plugin refuses the login.
        """
        pending = import_module("strongroom.identity.sessions.pending_login")
        resolver = import_module("strongroom.identity.users.resolver")
        accounts = import_module("strongroom.identity.users.accounts")
        origin = import_module("strongroom.foundation.caller").Origin()
        proof = pending.FirstProof(method, verified, None, self.clock.now())
        login = pending.PendingLogin(Client("192.0.2.7", "contract/1.0"), origin, proof)
        transactions = import_module("strongroom.assembly.plugin_host.state")
        with self.services.database.write() as connection:
            account = accounts.lock_account(connection, user_id)
            resolved = resolver.ResolvedUser(account)
            transaction = pending.LoginTransaction(connection, login, resolved, account, account.user)
            for check in self.services.registry.plugin(self.name).register_login_conditions():
                check(transaction)
            if also is not None:
                facts = self.services.hosts.get(self.name).make_login_facts(transaction)
                also(transactions.HostTransaction(connection), facts)

    def life_cycle(self) -> Any:
        """Return an object whose ``start()`` and ``stop()`` call the hooks."""
        return self.services.registry.life_cycle_of_plugins()


@contextmanager
def opened_plugin(
    folder: Path,
    plugin: str,
    options: Mapping[str, Any] = _NO_OPTIONS,
    *,
    file: Path | None = None,
    settings: Mapping[str, Any] = _NO_OPTIONS,
    database_url: str | None = None,
) -> Iterator[OpenedPlugin]:
    """Load a plugin with a new database, whose schema includes the tables of the plugin.

    Args:
        folder: an empty folder, such as ``tmp_path``.
        plugin: the name of an installed plugin, or of a one-file plugin.
        options: its options, as in ``[plugins.NAME]``.
        file: the file of a one-file plugin; its folder must not contain other plugins.
        settings: further tables of the configuration.
        database_url: the URL of an empty database; by default, a SQLite file in ``folder``.
    """
    config, services = (
        import_module("strongroom.foundation.config"),
        import_module("strongroom.assembly.container"),
    )
    enabled = ["storage_local"] if file else ["storage_local", plugin]
    plugins: dict[str, Any] = {"enabled": enabled, plugin: dict(options)} if options else {}
    plugins = plugins or {"enabled": enabled}
    if file:
        plugins["folder"] = str(file.parent)
    path, clock = folder / "strongroom.toml", ManualClock()
    table = {"server": {"data_dir": str(folder / "data")}, "plugins": plugins, **settings}
    if database_url:
        table["database"] = {**table.get("database", {}), "url": database_url}
    path.write_text(to_toml(table))
    with closing(services.build(config.load(path, {}), clock)) as container:
        schema = import_module("strongroom.foundation.database.upgrade")
        schema.upgrade(container.database.engine, container.selection.plugins.tables)
        yield OpenedPlugin(plugin, container.hosts.get(plugin), clock, container)


_UNKNOWN: Final = "0190a1b2-0000-7000-8000-000000000000"


class OptionsContract:
    """The rules of ``register_options``. Requires a fixture ``opened``."""

    def test_each_option_is_described(self, opened: OpenedPlugin) -> None:
        for field in fields(opened.host.options):
            text = field.metadata["help"]
            assert text.strip(), f"{field.name} has no help"
            assert text.endswith("."), f"the help of {field.name} is no sentence"

    def test_options_cannot_be_changed(self, opened: OpenedPlugin) -> None:
        for field in fields(opened.host.options):
            with pytest.raises(AttributeError):
                setattr(opened.host.options, field.name, None)

    def test_secrets_are_not_in_the_text_of_the_options(self, opened: OpenedPlugin) -> None:
        shown = [field.name for field in fields(opened.host.options) if field.repr]
        secret = [field.name for field in fields(opened.host.options) if field.metadata["secret"]]
        assert not set(shown) & set(secret)


class TablesContract:
    """The rules of ``register_tables``. Requires a fixture ``opened``."""

    def test_the_migrations_create_the_tables_of_the_metadata(self, opened: OpenedPlugin) -> None:
        autogenerate = import_module("alembic.autogenerate")
        migration = import_module("alembic.migration")
        own = opened.tables.metadata.tables

        def is_own(_object: Any, name: str | None, kind: str, _reflected: bool, _other: Any) -> bool:
            return kind != "table" or name in own

        with opened.services.database.engine.connect() as connection:
            options = {"compare_type": True, "include_object": is_own}
            context = migration.MigrationContext.configure(connection, opts=options)
            assert autogenerate.compare_metadata(context, opened.tables.metadata) == []

    def test_the_stated_revision_is_the_newest(self, opened: OpenedPlugin) -> None:
        module = import_module("strongroom.foundation.database.plugin_tables")
        tables = {opened.name: opened.tables}
        (schema,) = module.plugin_schemas(opened.services.database.engine, tables)
        assert schema.revision == opened.tables.revision

    def test_tables_are_empty_at_first(self, opened: OpenedPlugin) -> None:
        with opened.host.database.read() as transaction:
            for table in opened.tables.metadata.tables.values():
                assert transaction.all(table.select()) == []


class DeactivationsContract:
    """The rules of ``register_deactivations``. Requires a fixture ``opened``."""

    @pytest.mark.parametrize("cause", DeactivationCause)
    def test_a_user_without_rows_of_the_plugin_is_deactivated(
        self, opened: OpenedPlugin, cause: DeactivationCause
    ) -> None:
        user_id = opened.create_user()
        for _ in range(2):
            opened.deactivate(user_id, cause)


class LoginConditionsContract:
    """The rules of ``register_login_conditions``. Requires a fixture ``opened``."""

    @pytest.mark.parametrize("method", ["password", "oidc", "passkey"])
    def test_an_administrator_without_rows_of_the_plugin_logs_in(
        self, opened: OpenedPlugin, method: str
    ) -> None:
        user_id = opened.create_user(admin=True, contact=Credential("email", "root@example.org"))
        for _ in range(2):
            opened.check_login(user_id, method)


class AddressOwnersContract:
    """The rules of ``register_address_owners``. Requires a fixture ``opened``."""

    @pytest.mark.parametrize("address", ["ann@acme.example", "no address", "", "@", "a" * 1000])
    def test_an_address_that_the_plugin_does_not_know_belongs_to_no_tenant(
        self, opened: OpenedPlugin, address: str
    ) -> None:
        with opened.services.database.write() as connection:
            for find in opened.services.registry.plugin(opened.name).register_address_owners():
                assert find(connection, address) is None


class FileErasersContract:
    """The rules of ``register_file_erasers``. Requires a fixture ``opened``."""

    def test_files_without_rows_of_the_plugin_are_erased_repeatedly(self, opened: OpenedPlugin) -> None:
        for file_ids in ([_UNKNOWN], [_UNKNOWN] * 500):
            opened.erase_files(_UNKNOWN, file_ids)


class TenantErasersContract:
    """The rules of ``register_tenant_erasers``. Requires a fixture ``opened``."""

    def test_a_tenant_without_rows_of_the_plugin_is_erased_repeatedly(
        self, opened: OpenedPlugin
    ) -> None:
        for _ in range(2):
            opened.erase_tenant(_UNKNOWN)


class PruneStepsContract:
    """The rules of ``register_prune_steps``. Requires a fixture ``opened``."""

    def test_each_step_removes_nothing_from_empty_tables(self, opened: OpenedPlugin) -> None:
        assert opened.prune_steps
        for _ in range(2):
            for name, step in opened.prune_steps.items():
                assert step.run() == 0, f"{name} does not return the number of removed rows"


class JobsContract:
    """The rules of ``register_jobs``. Requires a fixture ``opened``."""

    def test_there_are_jobs(self, opened: OpenedPlugin) -> None:
        assert opened.jobs

    def test_each_job_can_be_repeated(self, opened: OpenedPlugin) -> None:
        for job in opened.jobs.values():
            job.run(Run())
            job.run(Run())
            opened.clock.advance(int(job.every.total_seconds() * 1000))
            job.run(Run())

    def test_each_job_ends_when_the_server_stops(self, opened: OpenedPlugin) -> None:
        for job in opened.jobs.values():
            job.run(Run(should_stop=True))


class LifeCycleContract:
    """The rules of ``start`` and ``stop``. Requires a fixture ``opened``."""

    def test_a_stop_ends_all_threads(self, opened: OpenedPlugin) -> None:
        before = set(threading.enumerate())
        life_cycle = opened.life_cycle()
        life_cycle.start()
        life_cycle.stop()
        assert set(threading.enumerate()) <= before

    def test_it_starts_again_after_a_stop(self, opened: OpenedPlugin) -> None:
        for _ in range(2):
            life_cycle = opened.life_cycle()
            life_cycle.start()
            life_cycle.stop()

    def test_a_start_does_not_wait(self, opened: OpenedPlugin) -> None:
        life_cycle = opened.life_cycle()
        thread = threading.Thread(target=life_cycle.start, daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive(), "the server waits for start; use a thread"
        life_cycle.stop()
