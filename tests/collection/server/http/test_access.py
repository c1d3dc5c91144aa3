"""Access: every key of the operator opens, and nothing else does."""

from simulated_studies import make_study

from privet.collection.server.http.access import Access
from privet.collection.study.tokens import Tokens, new_key


def test_each_key_opens_and_no_part_of_one_does():
    access = Access(Tokens(make_study(), new_key()), ("one-long-operator-key", "another-operator-key"))
    assert access.is_operator("one-long-operator-key")
    assert access.is_operator("another-operator-key")
    assert not any(
        map(access.is_operator, ("", "o", "one-long-operator-ke", "one-long-operator-keyanother-operator-key"))
    )
    assert "operator-key" not in repr(access)
