"""The calls of ``host.files`` about grants."""

from strongroom.assembly.plugin_host.caller import AsCaller, make_paging, result_page
from strongroom.assembly.plugin_host.files.records import grant_info, permission_level
from strongroom.content.files.grants import GrantRequest, GrantService
from strongroom.content.nodes import operations
from strongroom.plugin_api import files as api
from strongroom.plugin_api.paging import ResultPage


class FileGrants(AsCaller, api.FilesAPI):
    """Reads and changes grants."""

    def grants(
        self, tenant_id: str, file_id: str, *, page: int = 1, size: int = 100
    ) -> ResultPage[api.GrantInfo]:
        service, paging = self._get(GrantService), make_paging(page, size)
        grants, _ = service.page(
            self._caller(operations.LIST_GRANTS, tenant_id, file_id), tenant_id, file_id, paging
        )
        return result_page(grants).map(grant_info)

    def share(
        self,
        tenant_id: str,
        file_id: str,
        user_id: str,
        permission: api.Level,
        *,
        expires_at: int | None = None,
    ) -> api.GrantInfo:
        requested = GrantRequest(user_id, permission_level(permission), expires_at)
        service = self._get(GrantService)
        caller, origin = self._caller(operations.GRANT, tenant_id, file_id, user_id), self._origin()
        grant, _ = service.put(caller, tenant_id, file_id, requested, origin)
        return grant_info(grant)

    def tenure(self, tenant_id: str, file_id: str) -> api.Tenure:
        caller = self._caller(operations.GRANT, tenant_id, file_id)
        return self._get(GrantService).tenure(caller, tenant_id, file_id)
