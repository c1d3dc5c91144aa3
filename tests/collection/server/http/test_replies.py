"""Answers in JSON, which no browser keeps or reads as anything else."""

from privet.collection.server.http.replies import reply


def test_a_reply_is_compact_json_that_nobody_caches():
    made = reply(409, {"error": "No."}, {"Retry-After": "1"})
    assert (made.status_code, made.body, made.media_type) == (409, b'{"error":"No."}', "application/json")
    assert made.headers["cache-control"] == "no-store"
    assert made.headers["x-content-type-options"] == "nosniff"
    assert made.headers["retry-after"] == "1"
