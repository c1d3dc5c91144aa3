"""The pages are served from files, with a strict policy, and nothing else is."""

import base64
import hashlib
import json
import re

from simulated_studies import Service
from starlette.testclient import TestClient

from privet.collection.server.http.pages import Pages


def test_pages_carry_a_strict_policy(service):
    for path in ("/", "/operator", "/sw.js", "/web/participate.js", "/web/texts/de.json", "/web/kinds/label.js"):
        answer = service.client.get(path)
        assert answer.status_code == 200
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "worker-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["Cache-Control"] == "no-cache"


def test_a_page_names_its_files_by_the_hashes_that_browsers_check(service):
    for page, sheets in (("/", 1), ("/operator", 2)):
        text = service.client.get(page).text
        named = re.findall(r'(?:src|href)="(/web/[^"]+\.(?:js|css))" integrity="sha384-([^"]+)"', text)
        assert len(named) == len(re.findall(r"<script|stylesheet", text)) == sheets + 2
        for path, digest in named:
            answer = service.client.get(path)
            assert base64.b64encode(hashlib.sha384(answer.content).digest()).decode() == digest
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_the_pages_files_do_not_count_against_the_rate_limit(store, study):
    service = Service(study, store, rate=0.001, burst=2)
    with TestClient(service.app) as client:
        assert [client.get(path).status_code for path in ("/study", "/status", "/study")] == [200, 200, 429]
        loaded = re.findall(r'(?:src|href)="(/[^"]+)"', client.get("/").text)
        assert {client.get(path).status_code for path in (*loaded, "/", "/operator", "/sw.js")} == {200}
        assert client.get("/web/nothing.js").status_code == 404
        assert client.get("/study").status_code == 429


def test_nothing_else_is_served(service):
    climbing = ("/web/..%2Fpages.py", "/web/texts/..%2F..%2Fpages.py", "/web/../pages.py", "/web//etc/passwd")
    for path in (*climbing, "/web/", "/web/texts", "/web/nothing.js", "/docs", "/redoc", "/web/__init__.py"):
        assert service.client.get(path).status_code == 404


def test_files_have_their_types(service):
    expected = {"texts/fr.json": "application/json", "texts/texts.js": "text/javascript", "icon.svg": "image/svg+xml"}
    for path, kind in expected.items():
        assert service.client.get(f"/web/{path}").headers["Content-Type"].startswith(kind)
    assert service.client.get("/sw.js").headers["Content-Type"].startswith("text/javascript")


def test_the_worker_knows_the_hash_of_every_file_that_is_served(service):
    text = service.client.get("/sw.js").text
    files = json.loads(re.search(r"const FILES = (\{.*?\});", text, re.DOTALL)[1])
    assert {"/", "/web/icon.svg", "/web/texts/es.json"} <= set(files)
    assert [sum(path.endswith(kind) for path in files) for kind in (".js", ".css", ".html", ".map")] == [2, 1, 0, 0]
    assert not any("operator" in path for path in files)
    for path, digest in files.items():
        assert hashlib.sha256(service.client.get(path).content).hexdigest() == digest


def test_any_change_is_another_version(tmp_path):
    (tmp_path / "texts").mkdir()
    names = ("participate.html", "worker.js", "texts/en.json", "operator.js", "notes.txt")

    def version(changed=None):
        for name in names:
            (tmp_path / name).write_text(f"{name} {name == changed}")
        return Pages.read(tmp_path).worker().splitlines()[0]

    assert version() == version("operator.js") == version("notes.txt")
    assert len({version(), *map(version, names[:3])}) == 4
