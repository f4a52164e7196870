"""The facets of the host of a plugin, by the names of its properties."""

from typing import Final

from strongroom.plugin_api.browser import BrowserAPI
from strongroom.plugin_api.events import EventLog
from strongroom.plugin_api.factors import FactorsAPI
from strongroom.plugin_api.files import FilesAPI
from strongroom.plugin_api.forms import FormsAPI
from strongroom.plugin_api.grants import GrantsAPI
from strongroom.plugin_api.leases import LeasesAPI
from strongroom.plugin_api.limits import LimitsAPI
from strongroom.plugin_api.logins import LoginsAPI
from strongroom.plugin_api.paging import ListsAPI
from strongroom.plugin_api.provisioning import ProvisioningAPI
from strongroom.plugin_api.rendering import PagesAPI
from strongroom.plugin_api.secrets import SecretsAPI
from strongroom.plugin_api.server import ServerAPI
from strongroom.plugin_api.signing import SigningAPI
from strongroom.plugin_api.tenants import TenantsAPI
from strongroom.plugin_api.uploads import UploadsAPI
from strongroom.plugin_api.users import UsersAPI

FACETS: Final[dict[str, type]] = {
    "browser": BrowserAPI,
    "events": EventLog,
    "factors": FactorsAPI,
    "files": FilesAPI,
    "forms": FormsAPI,
    "grants": GrantsAPI,
    "leases": LeasesAPI,
    "limits": LimitsAPI,
    "lists": ListsAPI,
    "logins": LoginsAPI,
    "pages": PagesAPI,
    "provisioning": ProvisioningAPI,
    "secrets": SecretsAPI,
    "server": ServerAPI,
    "signing": SigningAPI,
    "tenants": TenantsAPI,
    "uploads": UploadsAPI,
    "users": UsersAPI,
}
