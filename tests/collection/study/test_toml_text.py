"""The lines of keys, however a document is written."""

import tomllib

from privet.collection.study.toml_text import lines_of

TEXT = '''# a comment
title = "x = [1]" # another
"quoted key".inner = 1
text = """
[not a table]
key = 2
"""
numbers = [
  1,  # ]
  2,
]
inline = { a = { b = 1 } }

[people]
nodes = 3

[[questions]]
low = 0
[[questions]]
low = 1
[questions.more]
deep = true
[a.b]
c = 2026-03-01T12:00:00Z
'''


def test_every_key_has_the_line_on_which_it_begins():
    tomllib.loads(TEXT)
    found = lines_of(TEXT)
    for path, line in {
        ("title",): 2,
        ("quoted key", "inner"): 3,
        ("text",): 4,
        ("numbers",): 8,
        ("numbers", 1): 8,
        ("inline", "a", "b"): 12,
        ("people",): 14,
        ("people", "nodes"): 15,
        ("questions", 0): 17,
        ("questions", 0, "low"): 18,
        ("questions", 1, "low"): 20,
        ("questions", 1, "more", "deep"): 22,
        ("a",): 23,
        ("a", "b", "c"): 24,
    }.items():
        assert found[path] == line
    assert ("key",) not in found
    assert lines_of(TEXT.replace("\n", "\r\n")) == found
