"""The first steps with the client that openapi-python-client generates."""

import sys
from io import BytesIO

from strongroom_client import AuthenticatedClient, Client
from strongroom_client.api.authorizations import create_authorization, delete_authorization
from strongroom_client.api.files import download_file, list_files, upload_file
from strongroom_client.api.tenants import create_tenant, list_tenants
from strongroom_client.models import Error, Login, NewTenant, UploadFileFilesBody
from strongroom_client.types import File


def log_in(url: str, username: str, password: str) -> AuthenticatedClient:
    """Return a client that carries a token."""
    body = Login(username=username, password=password)
    with Client(base_url=url) as anybody:
        answer = create_authorization.sync(client=anybody, body=body)
    if isinstance(answer, Error):
        # The code is stable; the message is for whoever reads the log.
        sys.exit(f"{answer.error.code}: {answer.error.message}")
    return AuthenticatedClient(base_url=url, token=answer.access_token)


def main(url: str, username: str, password: str) -> None:
    """Keep a note, and read it again."""
    with log_in(url, username, password) as client:
        tenant = create_tenant.sync(client=client, body=NewTenant(name="Acme"))
        note = File(BytesIO(b"Kept by Python.\n"), "note.txt", "text/plain")
        node = upload_file.sync(tenant.id, client=client, body=UploadFileFilesBody(file=note))
        listing = list_files.sync(tenant.id, "me", client=client, page_size=10)
        for item in listing.data:
            sys.stdout.write(f"{item.name}, {item.size} bytes, {item.permission}\n")
        answer = download_file.sync_detailed(tenant.id, node.id, client=client)
        sys.stdout.write(answer.content.decode())
        delete_authorization.sync("current", client=client)
        refused = list_tenants.sync(client=client)
        sys.stdout.write(f"{refused.error.code}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
