"""What the service provides: resource types, capabilities, and which deviations it tolerates."""

from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, Self

from scim2_models import (
    AuthenticationScheme,
    Bulk,
    ChangePassword,
    ComplexAttribute,
    EnterpriseUser,
    ETag,
    External,
    Filter,
    Group,
    GroupMember,
    Mutability,
    Patch,
    Reference,
    ResourceType,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
    User,
)

MAX_RESULTS: Final = 200
"""Resources of a page."""

MAX_OPERATIONS: Final = 500
"""Operations of a bulk request, and of a PATCH request."""

MAX_BULK_BYTES: Final = 1024 * 1024

_POLICY: Final = ScimPolicy(
    # Okta sends attributes of its own, and Entra a schema of its own for groups.
    unknown=ScimPolicy.Unknown.ignore,
    # Entra removes a member by its value, and adds an address of a type by a filter that matches none.
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)


def _scheme(kind: AuthenticationScheme.Type, name: str, text: str, url: str) -> AuthenticationScheme:
    return AuthenticationScheme(
        type=kind, name=name, description=text, spec_uri=Reference[External](url)
    )


def _config() -> ServiceProviderConfig:
    types = AuthenticationScheme.Type
    return ServiceProviderConfig(
        patch=Patch(supported=True),
        bulk=Bulk(supported=True, max_operations=MAX_OPERATIONS, max_payload_size=MAX_BULK_BYTES),
        filter=Filter(supported=True, max_results=MAX_RESULTS),
        change_password=ChangePassword(supported=False),
        sort=Sort(supported=False),
        etag=ETag(supported=True),
        authentication_schemes=[
            _scheme(
                types.oauthbearertoken,
                "Access key",
                "The access key of a service account, as a bearer token",
                "https://www.rfc-editor.org/info/rfc6750",
            ),
            _scheme(
                types.oauth2,
                "Client credentials",
                "A token of a client with a service account",
                "https://www.rfc-editor.org/info/rfc6749",
            ),
        ],
    )


class DirectoryMember(GroupMember):
    """A member of a group, whose name no client says: the user has it."""

    display: Annotated[str | None, Mutability.read_only] = None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a copy. It has nothing but texts, and a group has thousands of them."""
        return self.model_copy()


class DirectoryGroup(Group):
    """A group, as the standard has it but for the names of members."""

    members: list[DirectoryMember] | None = None  # type: ignore[assignment]
    Members: ClassVar[type[ComplexAttribute]] = DirectoryMember


@lru_cache(maxsize=2)
def make_provider(*, has_groups: bool) -> ScimProvider:
    """Return the description of the service. Only tenants have groups."""
    types = [ResourceType.from_resource(User[EnterpriseUser])]
    models: list[Any] = [User, EnterpriseUser]
    if has_groups:
        types.append(ResourceType.from_resource(DirectoryGroup))
        models.append(DirectoryGroup)
    return ScimProvider(models, types, config=_config(), policy=_POLICY)
