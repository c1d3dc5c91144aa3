"""The pages are served from files, with a strict policy, and nothing else is."""


def test_pages_carry_a_strict_policy(service):
    for path in ("/", "/operator", "/web/participate.js"):
        answer = service.client.get(path)
        assert answer.status_code == 200
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    for path in ("/web/nothing.js", "/web/..%2Fcollector.py", "/docs", "/redoc", "/web/__init__.py"):
        assert service.client.get(path).status_code == 404
