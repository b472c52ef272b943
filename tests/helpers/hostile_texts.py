"""Texts of any size in which something grows faster than elsewhere: for `bench_hostile.py`, and for counts of work."""

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def body(text: str) -> str:
    """A kernel `k` around statements."""
    registers = ".reg .u32 a, b, c; .reg .f32 f; .reg .pred p; .shared .align 8 .b8 tile[64];\n"
    return f"{HEAD}.entry k() {{\n{registers}mov.u32 b, 1; mov.u32 c, 2;\n{text}\nret;\n}}\n"


def each(form: str, n: int) -> str:
    """A text with a number in it, for every number below n."""
    return "".join(form.replace("#", str(i)) for i in range(n))


def chain_of_calls(n: int) -> str:
    """Functions that call one another in a row."""
    first = ".func (.reg .b32 r) f0(.reg .b32 p) { add.u32 r, p, 1; ret; }\n"
    form = ".func (.reg .b32 r) f#(.reg .b32 p) { .reg .b32 q; call (q), f@, (p); add.u32 r, q, p; ret; }\n"
    others = "".join(form.replace("#", str(k)).replace("@", str(k - 1)) for k in range(1, n))
    return f"{HEAD}{first}{others}.entry k() {{ .reg .b32 q; mov.b32 q, 1; call (q), f{n - 1}, (q); ret; }}\n"


def branches_to_all(n: int, statement: str = "") -> str:
    """Branches, each with all labels as targets."""
    labels = ",".join(f"L{k}" for k in range(n))
    return body(f"t: .branchtargets {labels};\n{each(f'L#: {statement} brx.idx a, t;', n)}")


def functions_beside(n: int) -> str:
    """Functions that nothing calls, beside a kernel, all in one line."""
    return f"{HEAD}{each('.func f#() { ret; }', n)}.entry k() {{ ret; }}\n"


def nested_ifs(n: int) -> str:
    """Branches around branches, each on a value of its own."""
    starts = each("setp.eq.u32 p, a, #; @p bra E#; mov.u32 a, %tid.x;\n", n)
    return body(
        "mov.u32 a, %tid.x;\n" + starts + "".join(f"E{k}: add.u32 a, a, {k};\n" for k in reversed(range(n)))
    )
