"""Kernels of any length, as a compiler leaves them: every value in a register of its own. For growth curves.

`straight` is an unrolled loop: groups of loads, multiply-adds into sums that live throughout, an address for each
group. `branching` has a block every eight instructions: conditions that skip one, values that two paths write, loops
around runs of blocks.
"""

from collections.abc import Iterator

_HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
"""
_SUMS = 16


def straight(n: int) -> str:
    """A kernel of about n instructions with a single long block."""
    return _kernel(_straight(n))


def branching(n: int) -> str:
    """A kernel of about n instructions in blocks of eight."""
    return _kernel(_branching(n))


class _Registers:
    """Fresh registers of each kind; how many there are is declared at the end."""

    def __init__(self) -> None:
        self.n = dict.fromkeys(("f", "r", "rd", "p"), 0)

    def __call__(self, kind: str) -> str:
        self.n[kind] += 1
        return f"%{kind}{self.n[kind]}"


def _kernel(body: Iterator[str | _Registers]) -> str:
    lines: list[str] = []
    declarations = ""
    for item in body:
        if isinstance(item, str):
            lines.append(item if item.endswith(":") else f"\t{item};")
        else:
            types = {"f": "f32", "r": "b32", "rd": "b64", "p": "pred"}
            declarations = "".join(f"\t.reg .{types[k]} %{k}<{m + 1}>;\n" for k, m in item.n.items())
    return _HEAD + declarations + "\n".join(lines) + "\n\tret;\n}\n"


def _begin(new: _Registers) -> Iterator[str]:
    yield from ("ld.param.u64 %rd1, [in]", "ld.param.u64 %rd2, [out]", "ld.param.u32 %r1, [n]")
    new.n |= {"rd": 2, "r": 1}


def _straight(n: int) -> Iterator[str | _Registers]:
    new = _Registers()
    yield from _begin(new)
    sums = [new("f") for _ in range(_SUMS)]
    yield from (f"mov.f32 {s}, 0f00000000" for s in sums)
    base = "%rd1"
    for group in range(max(1, (n - 2 * _SUMS) // 18)):
        base, previous = new("rd"), base
        yield f"add.s64 {base}, {previous}, 64"
        loaded = [new("f") for _ in range(8)]
        yield from (f"ld.global.f32 {f}, [{base}+{4 * k}]" for k, f in enumerate(loaded))
        for k in range(8):
            place = (8 * group + k) % _SUMS
            total = new("f")
            yield f"fma.rn.f32 {total}, {loaded[k]}, {loaded[(k + 3) % 8]}, {sums[place]}"
            sums[place] = total
        yield f"st.global.f32 [%rd2+{4 * (group % 512)}], {sums[group % _SUMS]}"
    yield from (f"st.global.f32 [%rd2+{4 * k}], {s}" for k, s in enumerate(sums))
    yield new


def _branching(n: int) -> Iterator[str | _Registers]:
    new = _Registers()
    yield from _begin(new)
    carried = [new("f") for _ in range(_SUMS)]  # written on several paths
    yield from (f"mov.f32 {c}, 0f3F800000" for c in carried)
    count, address = new("r"), new("rd")
    yield from (f"mov.u32 {count}, 0", f"mov.u64 {address}, %rd1")
    for block in range(max(1, (n - 2 * _SUMS) // 8)):
        if block % 16 == 0:
            yield f"$loop{block // 16}:"
        value, product, p, c = new("f"), new("f"), new("p"), carried[block % _SUMS]
        yield f"ld.global.f32 {value}, [{address}+{4 * (block % 64)}]"
        yield f"mul.f32 {product}, {value}, {carried[(block + 5) % _SUMS]}"
        yield f"setp.gt.f32 {p}, {product}, {c}"
        yield f"@{p} bra $skip{block}"
        yield f"add.f32 {c}, {product}, {value}"
        yield f"st.global.f32 [%rd2+{4 * (block % 512)}], {c}"
        yield f"$skip{block}:"
        if block % 16 == 15:
            last = new("p")
            yield f"add.s32 {count}, {count}, 1"
            yield f"setp.lt.s32 {last}, {count}, %r1"
            yield f"@{last} bra $loop{block // 16}"
        else:
            yield f"add.s32 {count}, {count}, 1"
            yield f"add.s64 {address}, {address}, 4"
    yield from (f"st.global.f32 [%rd2+{4 * k}], {c}" for k, c in enumerate(carried))
    yield new
