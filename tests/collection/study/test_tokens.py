"""Tokens: one node, one study."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_studies import make_study

from privet.collection.study.tokens import Access, InvalidToken, Tokens, new_key, node_of
from privet.errors import InvalidData

STUDY = make_study()
TOKENS = Tokens(STUDY, new_key())


def test_a_token_names_its_node():
    token = TOKENS.issue(17)
    assert TOKENS.check(token) == node_of(token) == 17
    assert len(token) == 32
    assert TOKENS.issue(17) == token != TOKENS.issue(17, serial=1)


def test_another_study_or_key_does_not_know_it():
    token = TOKENS.issue(17)
    for other in (Tokens(make_study(), TOKENS.key), Tokens(STUDY, new_key())):
        with pytest.raises(InvalidToken, match="signature"):
            other.check(token)


def test_every_changed_bit_is_noticed():
    raw = base64.urlsafe_b64decode(TOKENS.issue(17))
    for bit in range(8 * len(raw)):
        changed = bytearray(raw)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(InvalidToken):
            TOKENS.check_bytes(bytes(changed))
        assert TOKENS.check_many(raw + bytes(changed)) is None


def test_revoked_tokens_are_refused_and_their_successors_are_not():
    revoked = frozenset({(17, 0)})
    with pytest.raises(InvalidToken, match="revoked"):
        TOKENS.check(TOKENS.issue(17), revoked)
    assert TOKENS.check(TOKENS.issue(17, 1), revoked) == 17
    assert TOKENS.check_many(base64.urlsafe_b64decode(TOKENS.issue(17)), revoked) is None


@given(st.text(max_size=40))
def test_other_texts_are_refused(text):
    with pytest.raises(InvalidToken):
        TOKENS.check(text)


def test_no_token_for_a_node_that_is_not_there():
    with pytest.raises(InvalidData, match="below 500"):
        TOKENS.issue(500)


def test_many_tokens_at_once():
    block = b"".join(base64.urlsafe_b64decode(TOKENS.issue(node)) for node in (3, 499, 0))
    assert TOKENS.check_many(block) == [3, 499, 0]


def test_each_key_opens_and_no_part_of_one_does():
    access = Access(Tokens(make_study(), new_key()), ("one-long-operator-key", "another-operator-key"))
    assert access.is_operator("one-long-operator-key")
    assert access.is_operator("another-operator-key")
    assert not any(
        map(access.is_operator, ("", "o", "one-long-operator-ke", "one-long-operator-keyanother-operator-key"))
    )
    assert "operator-key" not in repr(access)
