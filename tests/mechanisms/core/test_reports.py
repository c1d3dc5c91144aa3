from __future__ import annotations

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import InvalidReports, PrivetError
from privet.mechanisms import AdjacencyResponse, MultiBit, NeighbourReports, Reports, SeededBits

SAMPLED = MultiBit(epsilon=5.0, dimension=9, low=0.0, high=1.0).perturb(np.full((4, 9), 0.5), SeededBits(0))
LISTS = AdjacencyResponse(epsilon=1.0, num_nodes=7).perturb(np.zeros((7, 7)), SeededBits(0))


@pytest.mark.parametrize("reports", [SAMPLED, LISTS], ids=["symbols", "neighbours"])
def test_every_truncated_or_extended_report_is_refused(reports: Reports | NeighbourReports) -> None:
    data = reports.to_bytes()
    for end in range(len(data)):
        with pytest.raises(InvalidReports):
            type(reports).from_bytes(data[:end])
    with pytest.raises(InvalidReports):
        type(reports).from_bytes(data + b"\0")


@pytest.mark.parametrize("reports", [SAMPLED, LISTS], ids=["symbols", "neighbours"])
@given(st.data())
def test_a_changed_byte_gives_other_reports_or_an_error(
    reports: Reports | NeighbourReports, data: st.DataObject
) -> None:
    packed = bytearray(reports.to_bytes())
    place = data.draw(st.integers(0, len(packed) - 1))
    packed[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(PrivetError):
        changed = type(reports).from_bytes(bytes(packed))
        assert changed != reports
        assert changed.to_bytes() == bytes(packed)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused_with_a_sentence(data: bytes) -> None:
    for kind in (Reports, NeighbourReports):
        with pytest.raises(InvalidReports, match=r"^(The|Row) .* must .*\.$|are no CSR index pointer"):
            kind.from_bytes(data)


def test_a_header_that_promises_too_much_does_not_allocate() -> None:
    promise = SAMPLED.to_bytes()[:8] + (1 << 60).to_bytes(8, "little") * 2 + (9).to_bytes(8, "little")
    with pytest.raises(InvalidReports, match="header"):
        Reports.from_bytes(promise)


def header(kind: int, code: int, flag: int, *sizes: int) -> bytes:
    return struct.pack("<4sBBBBQQQ", b"pvt1", kind, code, flag, 0, *sizes)


@pytest.mark.parametrize(
    "sizes", [(1 << 40, 0, 9), (1 << 40, 0, 0), (1 << 63, 1, 9), (0, 1 << 62, 9), (0, 1 << 63, 1 << 30), (1, 3, 2)]
)
@pytest.mark.parametrize("flag", [0, 1])
def test_hostile_sizes_are_refused_before_anything_is_allocated(sizes: tuple[int, int, int], flag: int) -> None:
    for kind, reports in ((0, Reports), (1, NeighbourReports)):
        with pytest.raises(InvalidReports):
            reports.from_bytes(header(kind, 0, flag, *sizes))


def test_pointers_whose_differences_wrap_around_are_refused() -> None:
    """Differences of these pointers are all positive in 64 bits; repeating by them would write out of bounds."""
    pointers = np.array([0, 2**63 - 1, -(2**63), -1, 0], dtype="<i8")
    with pytest.raises(InvalidReports, match="index pointer"):
        NeighbourReports.from_bytes(header(1, 0, 0, 4, 0, 4) + pointers.tobytes())


def test_one_kind_is_not_read_as_the_other() -> None:
    with pytest.raises(InvalidReports, match="header"):
        Reports.from_bytes(LISTS.to_bytes())
    with pytest.raises(InvalidReports, match="header"):
        NeighbourReports.from_bytes(SAMPLED.to_bytes())


def test_symbols_must_fit_their_description() -> None:
    symbols = np.ones((2, 2), dtype=np.int8)
    with pytest.raises(InvalidReports, match="signed integers"):
        Reports(2, symbols.astype(np.float32))  # type: ignore[arg-type]
    with pytest.raises(InvalidReports, match="3 symbols wide"):
        Reports(3, symbols)
    with pytest.raises(InvalidReports, match="int32"):
        Reports(3, symbols, np.zeros((2, 2)))  # type: ignore[arg-type]
    for indices in ([[0, 1], [1, 1]], [[0, 1], [2, 1]], [[0, 1], [0, 3]], [[0, 1], [-1, 0]]):
        with pytest.raises(InvalidReports, match="Row 1"):
            Reports(3, symbols, np.array(indices, dtype=np.int32))


def test_lists_must_name_other_nodes_in_order() -> None:
    starts = np.array([0, 0, 2, 2])  # node 1 reports two neighbours
    for neighbours in ([2, 0], [0, 0], [0, 1], [0, 3], [-1, 0]):
        with pytest.raises(InvalidReports, match="Row 1"):
            NeighbourReports(3, starts, np.array(neighbours, dtype=np.int32))
    with pytest.raises(InvalidReports, match="index pointer"):
        NeighbourReports(3, np.array([0, 2, 1, 2]), np.array([1, 2], dtype=np.int32))
    with pytest.raises(InvalidReports, match="one list for each of 3"):
        NeighbourReports(3, np.array([0, 1]), np.array([1], dtype=np.int32))
    with pytest.raises(InvalidReports, match="node ids"):
        NeighbourReports(3, np.array([0, 1]), np.array([1], dtype=np.int32), np.array([3]))


def test_reports_are_compact() -> None:
    one = MultiBit(epsilon=1.0, dimension=4714, low=0.0, high=1.0).perturb(np.zeros((1, 4714)), SeededBits(0))
    assert len(one.to_bytes()) == 32 + 4 + 1
