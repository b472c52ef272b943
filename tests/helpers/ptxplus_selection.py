"""What `lower-ptxplus` makes of small kernels: their code over virtual registers, the final text, the refusals."""

import operator
from collections.abc import Callable
from functools import cache

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite
from ptxtool.passes.ptxplus.code import Code
from ptxtool.passes.ptxplus.layout import module_text
from ptxtool.passes.ptxplus.lower import selected

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
DECLARED = (
    ".reg .b16 %h<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .f64 %x<4>; .reg .b64 %d<6>; .reg .pred %p<4>;\n"
)


def kernel(body: str, parameters: str = ".param .u64 p", name: str = "k") -> str:
    return f".visible .entry {name}({parameters})\n{{\n{DECLARED}{body}\nret;\n}}\n"


def lower(body: str, options: str = "", before: str = "", parameters: str = ".param .u64 p") -> str:
    """The whole text of a kernel that was lowered."""
    text = HEAD + before + kernel(body, parameters)
    return rewrite(parse(text, "k.ptx"), f"lower-ptxplus{options}").module.source.text


def virtual(body: str) -> list[str]:
    """The instructions over virtual registers, without labels."""
    places, codes = selected(parse(HEAD + kernel(body)))
    assert module_text(places, codes)
    return [str(code) for code in codes[0].codes()]


def refusals(text: str) -> list[tuple[int, str]]:
    """Lines and reasons of all that stands in a kernel's way."""
    with pytest.raises(PtxError) as caught:
        rewrite(parse(text, "k.ptx"), "lower-ptxplus")
    assert {d.code for d in caught.value.diagnostics} == {"E301"}
    assert all(d.help for d in caught.value.diagnostics)
    found = caught.value.diagnostics
    return [(d.source.line(d.start) if d.source else 0, d.message.rpartition("': ")[2]) for d in found]


# ---- what integer code computes

_MASK = 0xFFFFFFFF
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
_COMPUTE: dict[str, Callable[..., int]] = {
    "mov": lambda a: a,
    "not": lambda a: ~a,
    "neg": lambda a: -a,
    "abs": abs,
    "add": operator.add,
    "sub": operator.sub,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": lambda a, b: a << min(b & _MASK, 32),
    "shr": lambda a, b: a >> min(b & _MASK, 32),
    "mul.lo": operator.mul,
    "mul.hi": lambda a, b: a * b >> 32,
    "mad.lo": lambda a, b, c: a * b + c,
    "min": min,
    "max": max,
    "selp": lambda a, b, c: a if c else b,
    "clz": lambda a: 32 - a.bit_length(),
    "popc": int.bit_count,
    "brev": lambda a: int(f"{a:032b}"[::-1], 2),
}


@cache
def _selected(body: str, result: str, n_inputs: int) -> tuple[Code, ...]:
    numbers = range(1, n_inputs + 1)
    loads = "".join(f"ld.param.u64 %d{k}, [a{k}]; ld.param.u32 %r{k}, [a{k}];" for k in numbers)
    text = HEAD + kernel(
        f"{loads}{body} st.global.u{64 if result.startswith('%d') else 32} [0], {result};",
        ", ".join(f".param .u64 a{k}" for k in numbers),
    )
    _, (code,) = selected(parse(text))
    return tuple(code.codes())


def computed(body: str, result: str, *inputs: int) -> int:
    """The value of a register after the code of a body, run here; `%d1` or `%r1` is the first input, and so on."""
    code = _selected(body, result, len(inputs))
    memory = b"".join((value & (1 << 64) - 1).to_bytes(8, "little") for value in inputs)
    values: dict[str, int] = {}

    def value(operand: str) -> int:
        if operand.startswith("s["):
            start = int(operand[2:-1], 16) - 0x10
            return int.from_bytes(memory[start : start + 4], "little")
        return int(operand, 16) if operand.startswith("0x") else values[operand]

    for one in code:
        if one.base == "st":
            words = one.operands[1].strip("{}").split(",")
            return sum(values[word] << 32 * k for k, word in enumerate(words))
        register, _, condition = one.guard[1:].partition(".")
        if one.guard and (values[register] != 0) != (condition == "ne"):
            continue
        base, *words = one.opcode.split(".")
        sources = [value(operand) for operand in one.operands[1:]]
        if words[-1].startswith("s"):
            bits = 32 if base != "cvt" else int(words[-1][1:])
            sources = [(s & (1 << bits) - 1) - ((s >> bits - 1 & 1) << bits) for s in sources]
        elif base == "cvt":
            sources = [s & (1 << int(words[-1][1:])) - 1 for s in sources]
        if base == "set":
            found = _MASK if _COMPARE[words[0]](*sources) else 0
        elif base == "cvt":
            found = sources[0]
        elif words[-1] == "pred" and base == "not":
            found = int(not sources[0])
        else:
            name = base if base in _COMPUTE else f"{base}.{words[0]}"
            found = _COMPUTE[name](*sources)
        values[one.operands[0].removesuffix("$o127").rstrip("/|")] = found & _MASK
    raise AssertionError("the code ends in a store")
