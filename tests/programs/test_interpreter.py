"""A switch of sixteen cases over local memory, every lane in another one."""

import numpy as np


def wrap(value):
    return (value + 2**31) % 2**32 - 2**31


def interpret(code, i):
    stack, top, pc = [i] * 16, 0, 0
    while pc < len(code):
        op, pc = code[pc], pc + 1
        a, b = stack[top & 15], stack[(top - 1) & 15]
        kind = op & 15
        if kind == 0:
            top += 1
            stack[top & 15] = op >> 4
        elif kind <= 7:
            quotient = (abs(b) // abs(a) if (a < 0) == (b < 0) else -(abs(b) // abs(a))) if a else -1
            remainder = b - a * quotient if a else -1
            results = (b + a, b - a, b * a, quotient, remainder, b << (a & 31), b >> (a & 31))
            top -= 1
            stack[top & 15] = wrap(results[kind - 1])
        elif kind == 8:
            stack[top & 15] = 32 - (a & 0xFFFFFFFF).bit_length()
        elif kind == 9:
            top += 1
            stack[top & 15] = a
        elif kind == 10:
            stack[top & 15], stack[(top - 1) & 15] = b, a
        elif kind == 11:
            stack[top & 15] = wrap(abs(a))
        elif kind == 12:
            stack[top & 15] = (a & 0xFFFFFFFF).bit_count()
        elif kind == 13:
            pc += a & 1
        elif kind == 14:
            stack[top & 15] = a ^ 0x5A5A5A5A
        else:
            pc += op >> 6
    return stack[top & 15]


def test_interpreter(execute):
    programs = np.random.default_rng(23).integers(0, 256, (64, 60), dtype=np.uint8)
    programs[:, ::3] &= 0xF0  # push a number
    results = np.zeros(64, np.int32)
    execute("interpret", 2, 32, [programs, 60, results])
    assert results.tolist() == [interpret(code.tolist(), i) for i, code in enumerate(programs)]
    assert len(set(results.tolist())) > 20
