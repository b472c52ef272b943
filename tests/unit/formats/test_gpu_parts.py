"""The parts of a machine: the L1 that a launch has, and how long products take."""

import pytest
from volta_memory import SECTORS, machine

from ptxtool.formats.gpu_parts import Tensor

KB = 1024
QV100 = [
    f"l1d.adaptive_bytes={128 * KB}",
    f"l1d.adaptive_scratchpads={[k * KB for k in (0, 8, 16, 32, 64, 96)]}",
]


@pytest.mark.parametrize(
    ("scratchpad", "l1"), [(0, 128), (4, 120), (8, 120), (32, 96), (48, 64), (96, 32), (99, 32)]
)
def test_an_adaptive_l1_has_what_shared_memory_leaves(scratchpad: int, l1: int) -> None:
    # QV100: 128 KB less the smallest option that is enough
    l1d = machine(*SECTORS, *QV100).l1d.left_by(scratchpad * KB)
    assert l1d.sets * l1d.ways * l1d.line_bytes == l1 * KB


def test_another_l1_keeps_its_ways() -> None:
    l1d = machine(*SECTORS).l1d
    assert l1d.left_by(48 * KB) is l1d


@pytest.mark.parametrize(
    ("type_name", "products", "expected"),
    [
        ("f16", 2048, (18, 8)),
        ("f16", 2049, (20, 9)),  # a cycle more: 6 + 13.5, rounded to even
        ("s8", 2048, (12, 4)),
        ("u8", 1, (8, 1)),  # 6 + 1.5
        ("bf16", 2048, None),
        ("e2m1", 2048, None),
    ],
)
def test_products_by_their_type(type_name: str, products: int, expected: tuple[int, int] | None) -> None:
    core = Tensor(f16=256, int8=512, first_cycles=6, latency_per_interval=1.5)
    assert core.times(type_name, products) == expected
