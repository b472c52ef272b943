"""Products with scaled blocks in all three runs, bit for bit: every kind, every number of byte and thread.

Scales are random bits (a NaN among them) and moderate ones; the numbers are constants and registers. What single scales
do by hand is in tests/hand (mma_scaled.ptx, mma_sp_scaled.ptx).
"""

import numpy as np
import pytest
from matrix_values import metadata_words, product_text, registers, scale_words
from three_ways import three_ways

KINDS = [
    # kind, scales of a row, type of a scale, types of A and B, k
    ("mxf8f6f4", 1, "ue8m0", "e4m3 e5m2", 32),
    ("mxf8f6f4", 1, "ue8m0", "e2m1 e3m2", 32),
    ("mxf4", 2, "ue8m0", "e2m1 e2m1", 64),
    ("mxf4nvf4", 2, "ue8m0", "e2m1 e2m1", 64),
    ("mxf4nvf4", 4, "ue4m3", "e2m1 e2m1", 64),
    ("mxf4nvf4", 4, "ue8m0", "e2m1 e2m1", 64),
]


def run_scaled(text: str, given: np.ndarray) -> None:
    results = three_ways(text, 32, lambda: [np.zeros((4, 32), np.uint32), given.copy()])
    assert results[0][0].any()


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("kind", "count", "scale", "types", "k"), KINDS)
def test_scaled_blocks(kind: str, count: int, scale: str, types: str, k: int, is_sparse: bool) -> None:
    a, b = types.split()
    base = "mma.sp::ordered_metadata" if is_sparse else "mma"
    size = "" if kind == "mxf4" else f".scale_vec::{count}X"
    shape = f"m16n8k{2 * k if is_sparse else k}"
    counts = (4, 4, 4 if is_sparse else 2, 4)
    numbers = [(byte, pair, 3 - byte, thread) for byte, pair, thread in ((0, 1, 2), (2, 0, 1), (0, 0, 3))]
    for moderate, (byte, pair, other, thread) in zip((True, False, True), numbers, strict=True):
        byte, other = (byte if count < 4 else 0, {1: other, 2: 2 - byte, 4: 0}[count])
        opcode = f"{base}.sync.aligned.{shape}.row.col.kind::{kind}.block_scale{size}.f32.{a}.{b}.f32.{scale}"
        seed = f"{opcode} {byte} {pair} {moderate}"
        values = "floats" if moderate else "bits"
        factors = [
            registers(name, n, values, seed)
            if kind == "mxf8f6f4"
            else registers("u4", n, "bits", f"{seed} {name} {n}")
            for name, n in ((a, 4), (b, counts[2]))
        ]
        c = registers("f32", 4, "floats", seed)
        offset = 4 * 32 * (counts[1] + counts[2] + counts[3])
        more = ", %r70, 0" if is_sparse else ""
        more += f", %r71, {{{byte}, %h1}}, %r72, {{%h2, {thread}}}"
        text = product_text(opcode, counts, False, more, "sm_120a")
        load = f"ld.global.u32 %r71, [%d5+{offset + 128}]; ld.global.u32 %r72, [%d5+{offset + 256}];\n"
        text = text.replace(opcode, f"{load}mov.u16 %h1, {pair}; mov.u16 %h2, {other};\n{opcode}")
        metadata = metadata_words("u8", seed).reshape(1, 32)
        run_scaled(text, np.concatenate([*factors, c, metadata, scale_words(scale, moderate, seed)]))
