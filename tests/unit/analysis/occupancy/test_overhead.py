"""Storage of the sharing schemes: the papers' formulas, worked out by hand."""

from ptxtool.analysis.occupancy.overhead import LETTERS, sharing_storage
from ptxtool.formats.gpu import load_gpu

GPU = load_gpu("tesla-c2050")


def test_register_sharing_on_the_papers_machine() -> None:
    storage = sharing_storage(GPU, "register-sharing")
    assert storage.bits_per_sm == 273  # the paper, section 6
    assert [item.bits for item in storage.items] == [1, 32, 48, 48, 144]
    assert storage.bits == 273 * 14


def test_scratchpad_sharing_on_the_papers_machine() -> None:
    storage = sharing_storage(GPU, "scratchpad-sharing")
    assert storage.bits_per_sm == 93
    assert [item.bits for item in storage.items] == [1, 32, 48, 12]


def test_logarithms_are_rounded_up() -> None:
    gpu = GPU.with_sm(ctas=7, warps=33)  # log2(8) = 3, log2(33) -> 6, log2(7) -> 3
    assert sharing_storage(gpu, "register-sharing").bits_per_sm == 1 + 7 * 3 + 2 * 33 + 16 * 6
    assert sharing_storage(gpu, "scratchpad-sharing").bits_per_sm == 1 + 7 * 3 + 33 + 3 * 3
    assert sharing_storage(GPU.with_sm(ctas=1, warps=1), "scratchpad-sharing").bits_per_sm == 1 + 1 + 1


def test_the_text_has_every_part() -> None:
    text = str(sharing_storage(GPU, "register-sharing"))
    assert text.splitlines()[0] == "register-sharing: 273 bits per SM, 3822 bits for 14 SMs of tesla-c2050"
    assert len(text.splitlines()) == 6
    assert {"T", "W"} <= set(LETTERS)
