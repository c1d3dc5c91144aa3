"""Seeds into vectors: elements that are not below the prime are passed over."""

from __future__ import annotations

from privet.vdaf.fields import FIELD64, FIELD128
from privet.vdaf.xof import SEED, derive, expand

# A search by the draft's authors: the first element of this stream that is passed over is near its end.
REFUSING = bytes.fromhex("44341dc52d71a2ff2e4c305e9335da9b19afc68e10b8b543690dad9d3bbb46ba")


def test_an_element_that_is_too_large_is_passed_over_and_the_other_rows_stay() -> None:
    vectors = expand(FIELD64, [bytes(SEED), REFUSING], b"", [b"", b""], 13883)
    assert int(vectors[1, -1]) == 4857131209231097247
    assert not FIELD64.overflows(vectors).any()
    assert (vectors[0] == expand(FIELD64, [bytes(SEED)], b"", [b""], 13883)[0]).all()
    before = expand(FIELD64, [REFUSING], b"", [b""], 13882)[0]
    assert (vectors[1, :-1] == before).all()


def test_seed_tag_and_binder_each_change_all() -> None:
    found = {
        derive(seed, tag, binder)
        for seed in (bytes(SEED), b"\1" * SEED)
        for tag in (b"", b"a")
        for binder in (b"", b"a")
    }
    assert len(found) == 8
    (vector,) = expand(FIELD128, [bytes(SEED)], b"a", [b"b"], 2)
    assert FIELD128.encode(vector[None]).tobytes()[:SEED] == derive(bytes(SEED), b"a", b"b")
