"""The first steps with the Python client."""

import sys
from pathlib import Path

from strongroom_client import ApiError, Client
from strongroom_client.api import files, tenants
from strongroom_client.models import NewTenant


def main(url: str, username: str, password: str) -> None:
    """Upload a note, list it, download it and log out."""
    note = Path("note.txt")
    note.write_text("Kept by Python.\n")
    with Client(url) as client:
        client.log_in(username, password)
        tenant = client.send(tenants.create_tenant(body=NewTenant(name="Acme")))
        node = client.upload(tenant.id, note)
        for item in client.iterate(files.list_files(tenant.id, "me", page_size=10)):
            sys.stdout.write(f"{item.name}, {item.size} bytes, {item.permission}\n")
        copy = client.download(tenant.id, node.id, "copy.txt")
        sys.stdout.write(copy.read_text())
        client.log_out()
        try:
            client.send(tenants.list_tenants())
        except ApiError as error:
            # The code is stable; the message is for developers.
            sys.stdout.write(f"{error.code}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
