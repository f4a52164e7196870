"""Request and response schemas of files, folders and grants."""

from itertools import combinations
from typing import Any, Final

from marshmallow import Schema, fields, validate

from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import NodeType, Permission
from strongroom.content.nodes.names import MAX_PATH_LENGTH
from strongroom.content.nodes.node_filters import SORTS
from strongroom.content.scanning.states import STATES
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.schemas import MAX_BYTES, OverrideQuery
from strongroom.plugin_api.schemas import PagingQuery, ReferenceSchema, Timestamp
from strongroom.web.http.parsing import identifier, text

_LEVELS = [item.name.lower() for item in Permission]
_PERMISSIONS = _LEVELS[1:]


def node_name(**options: Any) -> fields.String:
    """Return the field of a node name; :mod:`strongroom.content.nodes.names` checks the characters."""
    return fields.String(validate=validate.Length(max=1024), **options)


class NewFolderSchema(Schema):
    """A folder to be created."""

    name = node_name(
        required=True,
        metadata={"description": "At most 255 characters, without `/`; unique in its folder"},
    )


class RenameSchema(Schema):
    """A new name. A revision, here or in If-Match, rejects the change if the node has changed since."""

    name = node_name(required=True, metadata={"description": "The new name, with its extension"})
    revision = fields.Integer(strict=True, load_default=None)


class DirectorySchema(Schema):
    """A new parent folder, and optionally a new name."""

    parentId = identifier(
        required=True, allow_none=True, metadata={"description": "The folder; null is the top level"}
    )
    name = node_name(load_default=None, metadata={"description": "The new name; null: the present one"})
    revision = fields.Integer(strict=True, load_default=None)


class CopySchema(Schema):
    """The folder of a copy, and optionally its name."""

    parentId = identifier(
        required=True, allow_none=True, metadata={"description": "The folder; null is the top level"}
    )
    name = node_name(
        load_default=None, metadata={"description": "The name of the copy; null: the present one"}
    )


def _permission() -> fields.String:
    return fields.String(
        required=True,
        validate=validate.OneOf(_PERMISSIONS),
        metadata={"description": "`read`, `write` or `manage`; each includes those before it"},
    )


class _AnyNewGrantSchema(Schema):
    """What new grants to users and to groups have in common."""

    permission = _permission()
    expiresAt = Timestamp(
        load_default=None,
        allow_none=True,
        metadata={"description": "As `2026-06-21T00:00:00Z`; null for a permanent grant"},
    )


class NewGrantSchema(_AnyNewGrantSchema):
    """A grant to a member of the tenant."""

    ownerId = identifier(
        required=True, metadata={"description": "Id of the user who gets the permission"}
    )


class _AnyGrantSchema(Schema):
    """What grants to users and to groups have in common."""

    fileId = fields.String(
        required=True, metadata={"description": "Id of the file or folder that the grant is on"}
    )
    permission = _permission()
    expiresAt = Timestamp(
        required=True, allow_none=True, metadata={"description": "When the grant ends; null: never"}
    )
    grantedBy = fields.Nested(
        ReferenceSchema,
        required=True,
        allow_none=True,
        metadata={"description": "The user who made the grant; null if unknown"},
    )
    createdAt = Timestamp(required=True, metadata={"description": "When the grant was made"})


class GrantSchema(_AnyGrantSchema):
    """A user's permission on a file or folder."""

    ownerId = fields.String(
        required=True, metadata={"description": "Id of the user who has the permission"}
    )
    owner = fields.Nested(
        ReferenceSchema,
        required=True,
        metadata={"description": "The same user, whose name is in `included`"},
    )


class NewGroupGrantSchema(_AnyNewGrantSchema):
    """A grant to a group of the tenant."""

    groupId = identifier(required=True, metadata={"description": "Id of a group of the tenant"})


class GroupGrantSchema(_AnyGrantSchema):
    """A group's permission on a file or folder."""

    groupId = fields.String(
        required=True, metadata={"description": "Id of the group whose members have the permission"}
    )
    groupName = fields.String(required=True, metadata={"description": "The group's present name"})


class AccessQuery(Schema):
    """The user of an access report."""

    userId = identifier(load_default=None, metadata={"description": "The user; the caller by default"})


class AccessReasonSchema(Schema):
    """A grant on the file or folder, or on one of its parent folders, to the user or to a group."""

    fileId = fields.String(
        required=True, metadata={"description": "Id of the file or folder that the grant is on"}
    )
    fileName = fields.String(
        required=True, allow_none=True, metadata={"description": "Null if the caller cannot see it"}
    )
    permission = _permission()
    expiresAt = Timestamp(
        required=True, allow_none=True, metadata={"description": "When the grant ends; null: never"}
    )
    inForce = fields.Boolean(
        required=True, metadata={"description": "Whether the grant has not expired"}
    )
    groupId = fields.String(
        required=True, allow_none=True, metadata={"description": "Null for the user's own grant"}
    )
    groupName = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Name of the group; null for the user's own grant"},
    )


class AccessSchema(Schema):
    """A user's permission on a file or folder, and its sources: the role in the tenant and grants."""

    userId = fields.String(required=True, metadata={"description": "The user of the report"})
    role = fields.String(
        required=True,
        allow_none=True,
        validate=validate.OneOf([role.value for role in Role]),
        metadata={"description": "Role in the tenant; null for a non-member"},
    )
    permission = fields.String(
        required=True,
        validate=validate.OneOf(_LEVELS),
        metadata={
            "description": "The highest permission of the role and the grants in force; `none`: no "
            "access"
        },
    )
    grants = fields.List(
        fields.Nested(AccessReasonSchema), required=True, metadata={"description": "The nearest first"}
    )


class FolderConflictQuery(Schema):
    """Conflict rule for a taken name; folders cannot be replaced."""

    onConflict = fields.String(
        load_default=OnConflict.FAIL.value,
        validate=validate.OneOf([OnConflict.FAIL.value, OnConflict.RENAME.value]),
        metadata={
            "description": "What happens if the name is taken: `fail` responds 409, `rename` appends"
            " a number"
        },
    )


class FileConflictQuery(Schema):
    """Conflict rule for a taken name."""

    onConflict = fields.String(
        load_default=OnConflict.FAIL.value,
        validate=validate.OneOf([choice.value for choice in OnConflict]),
        metadata={
            "description": "What happens if the name is taken: `fail` responds 409, `rename` appends"
            " a number, `replace` replaces a file: an upload becomes its new content "
            "and needs `write` on it, a move or copy puts it into the trash and needs"
            " `manage`"
        },
    )


def relative_path(**options: Any) -> fields.String:
    """Return the field of the path of an uploaded file; see :mod:`strongroom.content.nodes.names`."""
    return fields.String(
        load_default=None,
        validate=validate.Length(max=4 * MAX_PATH_LENGTH),
        metadata={
            "description": "Path of the file from the folder, such as `photos/2026/a.jpg`; missing "
            "folders are created"
        },
        **options,
    )


class UploadQuery(FileConflictQuery):
    """Path of the file, and conflict rule for a taken name."""

    relativePath = relative_path()


class DeletionQuery(OverrideQuery):
    """Parameters of a deletion."""

    permanently = fields.Boolean(
        load_default=False, metadata={"description": "Remove it at once, instead of to the trash"}
    )


def _content_type() -> fields.String:
    return text(
        255,
        load_default=None,
        metadata={"description": "A media type without parameters, or a kind, such as `image/*`"},
    )


def _node_type() -> fields.String:
    return fields.String(
        load_default=None,
        validate=validate.OneOf([item.value for item in NodeType]),
        metadata={"description": "Only files, or only folders"},
    )


def _sort() -> fields.String:
    return fields.String(
        load_default="name",
        validate=validate.OneOf(SORTS),
        metadata={"description": "`-` reverses the order; names by language rules, numbers by value"},
    )


def _folders_first() -> fields.Boolean:
    return fields.Boolean(
        load_default=False,
        truthy={"true"},
        falsy={"false"},
        metadata={"description": "Whether folders are before files, in every order"},
    )


def _owner() -> fields.String:
    return text(64, load_default=None, metadata={"description": "Id of the owner, or `me`"})


def _modified_after() -> Timestamp:
    return Timestamp(
        load_default=None,
        metadata={"description": "Only nodes that changed later, as `2026-06-21T00:00:00Z`"},
    )


_INCLUDED: Final = [
    ",".join(names) for count in (1, 2, 3) for names in combinations(("path", "holds", "locks"), count)
]


def _include() -> fields.String:
    return fields.String(
        load_default=None,
        validate=validate.OneOf(_INCLUDED),
        metadata={
            "description": "`path` adds the names on the path of each node, `holds` whether a hold is "
            "on it, `locks` whether it is locked"
        },
    )


class NodeQuery(Schema):
    """Additional members of the details of a file or folder."""

    include = _include()


class ListQuery(PagingQuery):
    """The filter and the order of a list."""

    q = text(255, load_default=None, metadata={"description": "Text that names contain"})
    type = _node_type()
    owner = _owner()
    contentType = _content_type()
    modifiedAfter = _modified_after()
    sort = _sort()
    foldersFirst = _folders_first()
    include = _include()


class SearchQuery(PagingQuery):
    """The criteria of a search."""

    query = text(
        255, load_default=None, metadata={"description": "Text that names contain; without it, any name"}
    )
    type = _node_type()
    parentId = identifier(
        load_default=None, metadata={"description": "The folder that contains them at any depth"}
    )
    owner = _owner()
    contentType = _content_type()
    modifiedAfter = _modified_after()
    minSize = fields.Integer(
        load_default=None, validate=validate.Range(0, MAX_BYTES), metadata={"description": "In bytes"}
    )
    sort = _sort()
    foldersFirst = _folders_first()
    include = _include()


class NodeSchema(Schema):
    """A file or folder, with the caller's permission on it."""

    id = fields.String(
        required=True,
        metadata={"description": "Identifies the file or folder in paths; it never changes"},
    )
    type = fields.String(
        required=True,
        validate=validate.OneOf([item.value for item in NodeType]),
        metadata={"description": "`file` or `folder`"},
    )
    name = fields.String(
        required=True, metadata={"description": "With the extension; unique in its folder"}
    )
    parentId = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Id of the folder that it is in; null: the top level"},
    )
    tenantId = fields.String(
        required=True, metadata={"description": "The tenant whose quota it counts in"}
    )
    size = fields.Integer(required=True, metadata={"description": "In bytes; 0 for folders"})
    contentType = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Media type, detected from content and name; null for folders"},
    )
    checksum = fields.String(
        required=True, allow_none=True, metadata={"description": "`sha256:` and hexadecimal digits"}
    )
    owner = fields.Nested(
        ReferenceSchema,
        required=True,
        metadata={"description": "The user who created it or took it over; the name is in `included`"},
    )
    permission = fields.String(
        required=True,
        validate=validate.OneOf(_LEVELS),
        metadata={"description": "The caller's permission: `none`, `read`, `write` or `manage`"},
    )
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True)
    updatedAt = Timestamp(required=True)
    scan = fields.String(
        required=True,
        allow_none=True,
        validate=validate.OneOf(STATES),
        metadata={
            "description": "Scan state of the content; null for folders. Content that is `pending`, "
            "`infected` or `rejected` cannot be read"
        },
    )
    path = fields.List(
        fields.String(),
        metadata={
            "description": "With `include=path`: the names from the topmost folder that the caller can "
            "see down to the node's own"
        },
    )
    isHeld = fields.Boolean(
        allow_none=True,
        metadata={
            "description": "With `include=holds`: whether a hold is on the file or folder itself; null: "
            "the caller may not see holds"
        },
    )
    isLocked = fields.Boolean(
        metadata={
            "description": "With `include=locks`: whether the file or folder itself is locked; a folder "
            "around it may be"
        }
    )
