"""The example of the page of routes gets the path, the query and the body as the page says."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.config import base_config, merged, write_toml

from strongroom.assembly.app import create_app, get_container
from strongroom.foundation.config import load
from strongroom.foundation.database.upgrade import upgrade

PAGE = Path(__file__).parents[4] / "docs/tutorials/routes.md"
BOXES = "/api/v1/rooms/attic/boxes"


def test_the_example_of_paths_queries_and_bodies_runs(tmp_path: Path) -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## The path, the query and the body")[2]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code
    (tmp_path / "plugins.d").mkdir()
    (tmp_path / "plugins.d" / "boxes.py").write_text(code[1])
    base = base_config(tmp_path, f"sqlite:///{tmp_path}/strongroom.sqlite3")
    plugins = {"plugins": {"folder": str(tmp_path / "plugins.d")}}
    app = create_app(load(write_toml(tmp_path / "strongroom.toml", merged(base, plugins)), {}))
    container = get_container(app)
    try:
        upgrade(container.database.engine)
        client = app.test_client()
        page = client.get(f"{BOXES}?pageSize=1&pageNumber=2").get_data(as_text=True)
        assert ("attic-2" in page, "attic-1" in page) == (True, False)
        assert "attic-1" in client.get(BOXES).get_data(as_text=True)
        created = client.post(BOXES, json={"name": "blue"})
        assert (created.status_code, created.get_json()) == (201, {"name": "attic-blue"})
        location = urlsplit(created.headers["Location"]).path
        assert location == f"{BOXES}/attic-blue"
        assert client.get(location).get_json() == created.get_json()
        assert client.post(BOXES, json={}).status_code == 400
        operation = client.get("/openapi.json").get_json()["paths"]["/api/v1/rooms/{room}/boxes"]["post"]
        assert operation["externalDocs"] == {"url": "https://docs.example.com/boxes"}
        assert operation["operationId"] == "createBox"
    finally:
        container.close()
