"""Shifts, bit fields, byte permutations and dot products of the reference interpreter.

Written from the PTX ISA manual, one lane at a time in Python's integers.

Reference: NVIDIA, "Parallel Thread Execution ISA", chapter 9 (logic and shift, integer, data movement instructions).
"""

from reference.numbers import Raw, by_lane, mask_of, to_signed
from reference.op import Op


def shl(op: Op, a: Raw, b: Raw) -> Raw:
    bits = op.type.bits
    return by_lane(lambda x, n: x << n if n < bits else 0, a, b) & mask_of(bits)


def shr(op: Op, a: Raw, b: Raw) -> Raw:
    bits = op.type.bits
    if op.type.is_signed:
        return by_lane(lambda x, n: to_signed(x, bits) >> min(n, bits - 1), a, b) & mask_of(bits)
    return by_lane(lambda x, n: x >> n if n < bits else 0, a, b)


def shf(op: Op, a: Raw, b: Raw, c: Raw) -> Raw:
    def lane(low: int, high: int, n: int) -> int:
        n = min(n, 32) if op.has("clamp") else n & 31
        both = high << 32 | low
        return both << n >> 32 if op.has("l") else both >> n

    return by_lane(lane, a, b, c) & mask_of(32)


def bfe(op: Op, a: Raw, b: Raw, c: Raw) -> Raw:
    bits = op.type.bits

    def lane(x: int, position: int, length: int) -> int:
        position, length = position & 0xFF, length & 0xFF
        if length == 0:
            return 0
        field = x >> position & ((1 << length) - 1) if position < bits else 0
        if op.type.is_signed and x >> min(position + length - 1, bits - 1) & 1:
            available = max(0, min(length, bits - position))
            field |= -1 << available
        return field

    return by_lane(lane, a, b, c) & mask_of(bits)


def bfi(op: Op, a: Raw, b: Raw, c: Raw, d: Raw) -> Raw:
    def lane(x: int, into: int, position: int, length: int) -> int:
        mask = ((1 << (length & 0xFF)) - 1) << (position & 0xFF)
        return (into & ~mask) | (x << (position & 0xFF) & mask)

    return by_lane(lane, a, b, c, d) & mask_of(op.type.bits)


def bfind(op: Op, a: Raw) -> Raw:
    bits = op.type.bits

    def lane(x: int) -> int:
        if op.type.is_signed and x >> (bits - 1):
            x ^= (1 << bits) - 1
        if x == 0:
            return -1
        return bits - x.bit_length() if op.has("shiftamt") else x.bit_length() - 1

    return by_lane(lane, a) & mask_of(32)


def brev(op: Op, a: Raw) -> Raw:
    return by_lane(lambda x: int(f"{x:0{op.type.bits}b}"[::-1], 2), a)


def fns(op: Op, mask: Raw, base: Raw, offset: Raw) -> Raw:
    def lane(m: int, b: int, o: int) -> int:
        o = to_signed(o, 32)
        if b > 31:  # the manual leaves it open
            return -1
        if o == 0:
            return b if m >> b & 1 else -1
        places = [k for k in (range(b, 32) if o > 0 else range(b, -1, -1)) if m >> k & 1]
        return places[abs(o) - 1] if len(places) >= abs(o) else -1

    return by_lane(lane, mask, base, offset) & mask_of(32)


def bmsk(op: Op, a: Raw, b: Raw) -> Raw:
    def lane(position: int, width: int) -> int:
        if op.has("wrap"):
            position, width = position & 31, width & 31
        position, width = min(position, 32), min(width, 32)
        return ((1 << width) - 1) << position

    return by_lane(lane, a, b) & mask_of(32)


def szext(op: Op, a: Raw, b: Raw) -> Raw:
    def lane(x: int, n: int) -> int:
        n = n & 31 if op.has("wrap") else min(n, 32)
        if n == 0:
            return 0
        x &= (1 << n) - 1
        return to_signed(x, n) if op.type.is_signed else x

    return by_lane(lane, a, b) & mask_of(32)


def prmt(op: Op, a: Raw, b: Raw, c: Raw) -> Raw:
    mode = next((m for m in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16") if op.has(m)), "")

    def choose(selector: int) -> tuple[int, ...]:
        s = selector & 3
        if mode == "f4e":
            return (s, s + 1, s + 2, s + 3)
        if mode == "b4e":
            return (s, (s - 1) & 7, (s - 2) & 7, (s - 3) & 7)
        if mode == "rc8":
            return (s,) * 4
        if mode == "ecl":
            return tuple(max(s, k) for k in range(4))
        if mode == "ecr":
            return tuple(min(s, k) for k in range(4))
        if mode == "rc16":
            return (0, 1, 0, 1) if s & 1 == 0 else (2, 3, 2, 3)
        return tuple(selector >> 4 * k & 0xF for k in range(4))

    def lane(x: int, y: int, selector: int) -> int:
        both = y << 32 | x
        result = 0
        for k, s in enumerate(choose(selector)):
            byte = both >> 8 * (s & 7) & 0xFF
            if s & 8:
                byte = 0xFF if byte & 0x80 else 0
            result |= byte << 8 * k
        return result

    return by_lane(lane, a, b, c)


def lop3(op: Op, a: Raw, b: Raw, c: Raw, lut: Raw) -> Raw:
    def lane(x: int, y: int, z: int, table: int) -> int:
        result = 0
        for k in range(32):
            index = (x >> k & 1) << 2 | (y >> k & 1) << 1 | (z >> k & 1)
            result |= (table >> index & 1) << k
        return result

    return by_lane(lane, a, b, c, lut)


def dot(op: Op, a: Raw, b: Raw, c: Raw, a_bits: int, first: int) -> Raw:
    def lane(x: int, y: int, z: int) -> int:
        total = z
        for k in range(32 // a_bits):
            left, right = x >> a_bits * k & ((1 << a_bits) - 1), y >> 8 * (k + first) & 0xFF
            left = to_signed(left, a_bits) if op.type.is_signed else left
            total += left * (to_signed(right, 8) if op.stype.is_signed else right)
        return total

    return by_lane(lane, a, b, c) & mask_of(32)
