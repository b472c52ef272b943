"""PTX texts of fat binaries: plain and compressed, several architectures, several containers, and what is broken."""

import lz4.block
import pytest
import zstandard
from fat_binaries import entry, fat_binary

from ptxtool.applications.fat_binary import chosen, module_text, ptx_images
from ptxtool.base.diag import PtxError

TEXT = b".version 9.0\n.target sm_75\n" + b"// a line that repeats\n" * 20


def test_a_plain_text_without_the_zeros_after_it() -> None:
    (image,) = ptx_images(fat_binary(entry(TEXT + b"\0")))
    assert (image.target, image.text()) == (75, TEXT)


def test_compressed_texts() -> None:
    zstd = zstandard.ZstdCompressor().compress(TEXT)
    lz = lz4.block.compress(TEXT, store_size=False)
    images = ptx_images(
        fat_binary(
            entry(zstd, flags=0x8011, text_bytes=len(TEXT), packed=len(zstd)),
            entry(lz, flags=0x2011, text_bytes=len(TEXT), packed=len(lz), target=80),
        )
    )
    assert [image.target for image in images] == [75, 80]
    assert [image.text() for image in images] == [TEXT, TEXT]


def test_machine_code_is_passed_over_and_all_containers_are_read() -> None:
    data = fat_binary(entry(b"\x7fELF", kind=2), entry(TEXT)) + fat_binary(entry(TEXT, target=90))
    assert [image.target for image in ptx_images(data)] == [75, 90]
    assert ptx_images(fat_binary(entry(b"\x7fELF", kind=2))) == []


@pytest.mark.parametrize(("target", "expected"), [(70, 75), (75, 75), (80, 75), (89, 86), (120, 90)])
def test_the_newest_that_is_not_above_the_target(target: int, expected: int) -> None:
    images = ptx_images(fat_binary(*(entry(TEXT, target=n) for n in (90, 75, 86))))
    found = chosen(images, target)
    assert found is not None
    assert found.target == expected


def test_there_may_be_none() -> None:
    assert chosen([], 75) is None


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 64, fat_binary(entry(TEXT))[:-8], fat_binary(entry(TEXT)[:24] + b"\xff" * 40)]
)
def test_broken_ones(data: bytes) -> None:
    with pytest.raises(PtxError, match="E501"):
        ptx_images(data)


@pytest.mark.parametrize("flags", [0x8011, 0x2011])
def test_a_text_that_cannot_be_decompressed(flags: int) -> None:
    (image,) = ptx_images(fat_binary(entry(b"not compressed", flags=flags, text_bytes=100, packed=14)))
    with pytest.raises(PtxError, match="cannot be decompressed"):
        image.text()


def test_the_text_of_a_module() -> None:
    images = fat_binary(entry(TEXT), entry(b"newer", target=90))
    assert module_text(images, 80) == (TEXT, ".sm_75")
    assert module_text(TEXT + b"\0", 80) == (TEXT, "")
    with pytest.raises(PtxError, match="is machine code, without PTX"):
        module_text(b"\x7fELF", 80)
    with pytest.raises(PtxError, match="has no PTX, only machine code"):
        module_text(fat_binary(entry(b"\x7fELF", kind=2)), 80)
