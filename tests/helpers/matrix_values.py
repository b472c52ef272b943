"""Registers and memory with elements of matrices, and kernels of products, for tests of tensor cores.

Kinds of values: "whole" numbers whose sums are exact, moderate "floats" whose sums are cut, random "bits" with
infinities, NaNs and subnormals.
"""

import random

import numpy as np
from three_ways import HEAD

EXPONENT_BITS = {
    "f32": 8,
    "tf32": 8,
    "bf16": 8,
    "f16": 5,
    "e5m2": 5,
    "e4m3": 4,
    "e3m2": 3,
    "e2m3": 2,
    "e2m1": 2,
}
FRACTION_BITS = {
    "f32": 23,
    "tf32": 23,
    "bf16": 7,
    "f16": 10,
    "e5m2": 2,
    "e4m3": 3,
    "e3m2": 2,
    "e2m3": 3,
    "e2m1": 1,
}
"""Of a register's element; tf32 has 32 bits there."""
WIDTHS = {"f32": 32, "tf32": 32, "bf16": 16, "f16": 16, "s32": 32, "f64": 64, "s4": 4, "u4": 4, "b1": 1}


def element(name: str, kind: str, generator: random.Random) -> int:
    """The bits of one element."""
    width = WIDTHS.get(name, 8)
    if kind == "bits" or name not in EXPONENT_BITS:
        if name == "s32" and kind == "whole":
            return generator.randrange(-(1 << 20), 1 << 20) & 0xFFFFFFFF
        return generator.getrandbits(width)
    e_bits, f_bits = EXPONENT_BITS[name], FRACTION_BITS[name]
    bias = (1 << (e_bits - 1)) - 1
    sign = generator.getrandbits(1) << (e_bits + f_bits)
    if kind == "whole":  # 0, 1, 2, 3
        value = generator.randrange(4 if f_bits else 3)
        bits = [0, bias << f_bits, (bias + 1) << f_bits, (bias + 1) << f_bits | 1 << (f_bits - 1)][value]
    else:
        spread = min(6, bias)
        exponent = generator.randrange(bias - spread + (spread == bias), bias + spread)
        bits = exponent << f_bits | generator.getrandbits(f_bits)
    return (sign | bits) << (2 if name == "e2m1" else 0)


def registers(name: str, count: int, kind: str, seed: str) -> np.ndarray:
    """`count` registers of 32 lanes."""
    generator = random.Random(f"{name} {kind} {seed}")
    if name == "f64":
        words = np.zeros((count, 32), np.uint64)
        for k in np.ndindex(words.shape):
            exponent = (
                generator.randrange(1015, 1030)
                if kind != "bits"
                else generator.choice([0, 1, 1023, 2046, 2047])
            )
            fraction = generator.getrandbits(52) if kind != "whole" else 0
            words[k] = generator.getrandbits(1) << 63 | exponent << 52 | fraction
        return words
    width = WIDTHS.get(name, 8)
    words = np.zeros((count, 32), np.uint32)
    for k in np.ndindex(words.shape):
        words[k] = sum(element(name, kind, generator) << (width * j) for j in range(32 // width))
    return words


def metadata_words(a: str, seed: str) -> np.ndarray:
    """Words of 4-bit fields that PTX allows: two different places of four, in order; for tf32 one of two."""
    generator = random.Random(seed)
    fields = [0b0100, 0b1110] if a == "tf32" else [i | j << 2 for j in range(4) for i in range(j)]
    return np.array([sum(generator.choice(fields) << 4 * k for k in range(8)) for _ in range(32)], np.uint32)


def scale_words(name: str, is_moderate: bool, seed: str) -> np.ndarray:
    """Scales of blocks in four bytes of 32 lanes, for A and for B."""
    generator = random.Random(seed)
    first, last = {"ue8m0": (120, 134), "ue4m3": (1, 0x7E)}[name] if is_moderate else (0, 255)
    return np.array(
        [[sum(generator.randint(first, last) << 8 * j for j in range(4)) for _ in range(32)] for _ in "ab"],
        np.uint32,
    )


def tile_bytes(name: str, rows: int, columns: int, pitch: int, kind: str) -> np.ndarray:
    """A matrix in memory: `rows` lines, `pitch` elements apart."""
    width = WIDTHS.get(name, 8)
    generator = random.Random(f"{name} {rows} {columns} {pitch}")
    if name == "f64":
        values = [[float(generator.randrange(-9, 9)) for _ in range(columns)] for _ in range(rows)]
        lines = np.zeros((rows, pitch))
        lines[:, :columns] = values
        return lines.view(np.uint8).ravel()
    out = bytearray()
    for _ in range(rows):
        line = sum(element(name, kind, generator) << width * k for k in range(columns))
        out += line.to_bytes(pitch * width // 8, "little")
    return np.frombuffer(bytes(out), np.uint8)


def product_text(
    opcode: str, counts: tuple[int, int, int, int], wide: bool, more: str = "", target: str = "sm_90"
) -> str:
    """A kernel that multiplies fragments from `in`, one register after the other, and stores D."""
    width, letter, kind = (8, "%d", "u64") if wide else (4, "%r", "u32")
    lines = [HEAD.replace("TILE", "16").replace("sm_90", target)]
    lines.append(f"mul.wide.u32 %d3, %r1, {width}; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;\n")
    names: list[list[str]] = []
    number, offset = 10, 0
    for which, count in enumerate(counts):
        names.append([f"{letter}{number + r}" for r in range(count)])
        number += count
        if which:
            for name in names[-1]:
                lines.append(f"ld.global.{kind} {name}, [%d5+{32 * width * offset}];\n")
                offset += 1
    operands = ", ".join("{" + ", ".join(group) + "}" for group in names)
    if more:
        lines.append(f"ld.global.{kind} %r70, [%d5+{32 * width * offset}];\n")
    lines.append(f"{opcode} {operands}{more};\n")
    lines += [f"st.global.{kind} [%d4+{32 * width * r}], {name};\n" for r, name in enumerate(names[0])]
    return "".join(lines) + "ret;\n}\n"
