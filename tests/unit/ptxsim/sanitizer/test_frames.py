"""`--check init` and the stack: frames of functions, their parameters, results, registers, and `alloca`.

A case is a kernel `k` over `.param .u64 p` (one word for each thread) with its functions; its prologue leaves %tid.x
in %r1 and the address of p[tid] in %rd3. `// E411` marks where a read of what was never written must be reported.
"""

import numpy as np
import pytest

import ptxsim
import ptxtool

HEAD = """\
.version 8.0
.target sm_80
.address_size 64
"""

KERNEL = """
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<3>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
"""

SUM = """
.func (.param .b32 sum) add3(.param .align 4 .b8 three[12])
{
    .reg .b32 %r<9>;
    ld.param.b32 %r1, [three];
    ld.param.b32 %r2, [three+4];
    ld.param.b32 %r3, [three+8]; // READ
    add.s32 %r4, %r1, %r2;
    add.s32 %r5, %r4, %r3;
    st.param.b32 [sum], %r5;
    ret;
}
"""

CALL = """
    {
    .param .align 4 .b8 three[12];
    .param .b32 sum;
    st.param.b32 [three], %r1;
    st.param.b32 [three+4], 7;
    st.param.b32 [three+8], 8; // WRITTEN
    call.uni (sum), add3, (three);
    ld.param.b32 %r2, [sum];
    }
    st.global.u32 [%rd3], %r2;
    ret;
}
"""

SCRATCH = """
.func (.param .b32 result) scratch(.param .b32 n)
{
    .reg .pred %p;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .local .align 8 .b8 room[16];
    ld.param.b32 %r1, [n];
    setp.eq.s32 %p, %r1, 0;
    @%p bra SKIP;
    st.local.b32 [room+4], %r1;
SKIP:
    ld.local.b32 %r2, [room+4]; // READ
    st.param.b32 [result], %r2;
    ret;
}
"""


def scratch(n: str) -> str:
    return f"""
    {{
    .param .b32 n;
    .param .b32 result;
    st.param.b32 [n], {n};
    call.uni (result), scratch, (n);
    ld.param.b32 %r2, [result];
    }}
    st.global.u32 [%rd3], %r2;
"""


FAULTS = {
    "a part of an argument": (
        SUM.replace("// READ", "// E411")
        + KERNEL
        + CALL.replace("    st.param.b32 [three+8], 8; // WRITTEN\n", "")
    ),
    "a result that the function does not give": (
        SUM.replace("    st.param.b32 [sum], %r5;\n", "") + KERNEL + CALL.replace("[sum];", "[sum]; // E411")
    ),
    "a local variable of a function": (
        SCRATCH.replace("// READ", "// E411") + KERNEL + scratch("0") + "ret;\n}\n"
    ),
    "a local variable that an earlier call wrote": (
        SCRATCH.replace("// READ", "// E411") + KERNEL + scratch("5") + scratch("0") + "ret;\n}\n"
    ),
    "a register that an earlier call wrote": """
.func (.param .b32 result) maybe(.param .b32 n)
{
    .reg .pred %p;
    .reg .b32 %r<9>;
    ld.param.b32 %r1, [n];
    setp.eq.s32 %p, %r1, 0;
    @!%p mov.b32 %r2, 4;
    add.s32 %r3, %r2, 1;
    st.param.b32 [result], %r3; // E411
    ret;
}
"""
    + KERNEL
    + (scratch("5") + scratch("0")).replace("scratch", "maybe")
    + "ret;\n}\n",
    "a variable of a function that has ended": """
.func (.param .b64 result) leak()
{
    .reg .b64 %rd<9>;
    .local .align 8 .b8 room[16];
    mov.u64 %rd1, room;
    cvta.local.u64 %rd2, %rd1;
    st.u32 [%rd2], 3;
    st.param.b64 [result], %rd2;
    ret;
}
"""
    + KERNEL
    + """
    {
    .param .b64 result;
    call.uni (result), leak, ();
    ld.param.b64 %rd4, [result];
    }
    ld.u32 %r2, [%rd4]; // E411
    st.global.u32 [%rd3], %r2;
    ret;
}
""",
    "a local variable of a kernel that calls": (
        SUM
        + KERNEL
        + """
    .local .align 4 .b8 mine[8];
    st.local.b32 [mine], %r1;
    ld.local.b32 %r5, [mine+4]; // E411
"""
        + CALL
    ),
    "what alloca gives": """
.func (.param .b32 result) taken(.param .b32 n)
{
    .reg .pred %p;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.b32 %r1, [n];
    alloca.u64 %rd1, 16;
    setp.eq.s32 %p, %r1, 0;
    @!%p st.local.b32 [%rd1], 4;
    ld.local.b32 %r2, [%rd1]; // E411
    st.param.b32 [result], %r2;
    ret;
}
"""
    + KERNEL
    + (scratch("5") + scratch("0")).replace("scratch", "taken")
    + "ret;\n}\n",
}

CLEAN = {
    "arguments and results": SUM + KERNEL + CALL,
    "padding of a structure that is never read": (
        SUM.replace("ld.param.b32 %r3, [three+8]", "mov.b32 %r3, 1")
        + KERNEL
        + CALL.replace("    st.param.b32 [three+8], 8; // WRITTEN\n", "")
    ),
    "local variables": SCRATCH + KERNEL + scratch("5") + scratch("6") + "ret;\n}\n",
    "a pointer to the caller's variable": """
.func fill(.param .b64 where)
{
    .reg .b64 %rd<3>;
    ld.param.b64 %rd1, [where];
    st.u32 [%rd1], 3;
    ret;
}
"""
    + KERNEL
    + """
    .local .align 4 .b8 mine[8];
    mov.u64 %rd4, mine;
    cvta.local.u64 %rd5, %rd4;
    {
    .param .b64 where;
    st.param.b64 [where], %rd5;
    call.uni fill, (where);
    }
    ld.local.u32 %r2, [mine];
    st.global.u32 [%rd3], %r2;
    ret;
}
""",
    "recursion with registers that outlast a call": """
.func (.reg .u32 r) sum(.reg .u32 n)
{
    .reg .pred p;
    .reg .u32 m;
    mov.u32 r, 0;
    setp.eq.u32 p, n, 0;
    @p ret;
    sub.u32 m, n, 1;
    call (r), sum, (m);
    add.u32 r, r, n;
    ret;
}
"""
    + KERNEL
    + """
    call (%r2), sum, (%r1);
    st.global.u32 [%rd3], %r2;
    ret;
}
""",
    "printing": """
.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[4] = {37, 100, 10, 0};
"""
    + KERNEL
    + """
    .local .align 8 .b8 values[8];
    st.local.b32 [values], %r1;
    mov.u64 %rd4, values;
    cvta.local.u64 %rd5, %rd4;
    mov.u64 %rd6, text;
    cvta.global.u64 %rd7, %rd6;
    {
    .param .b64 format;
    .param .b64 args;
    .param .b32 status;
    st.param.b64 [format], %rd7;
    st.param.b64 [args], %rd5;
    call.uni (status), vprintf, (format, args);
    ld.param.b32 %r2, [status];
    }
    st.global.u32 [%rd3], %r2;
    ret;
}
""",
    "alloca, written": """
.func (.param .b32 result) taken(.param .b32 n)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.b32 %r1, [n];
    alloca.u64 %rd1, 16;
    st.local.b32 [%rd1], %r1;
    alloca.u64 %rd2, 16;
    st.local.b32 [%rd2], %r1;
    ld.local.b32 %r2, [%rd1];
    st.param.b32 [result], %r2;
    ret;
}
"""
    + KERNEL
    + (scratch("5") + scratch("0")).replace("scratch", "taken")
    + "ret;\n}\n",
}


def check(text: str):
    kernel = ptxtool.parse(HEAD + text, name="k.ptx").kernels["k"]
    return ptxsim.run(kernel, 2, 40, [np.zeros(80, np.uint32)], check=["init", "memory"]).problems


@pytest.mark.parametrize("name", FAULTS)
def test_what_nobody_wrote_is_found(name):
    problems = check(FAULTS[name])
    marked = [n for n, line in enumerate((HEAD + FAULTS[name]).split("\n"), 1) if "E411" in line]
    assert [(d.code, d.line) for d in problems] == [("E411", n) for n in marked]


@pytest.mark.parametrize("name", CLEAN)
def test_clean_programs_are_clean(name):
    assert check(CLEAN[name]) == ()


def test_messages_name_the_variable_and_its_function():
    (found,) = check(FAULTS["a part of an argument"])
    assert found.message == (
        "thread (0,0,0) of CTA (0,0,0) reads byte 8 of variable 'three' (12 bytes) of 'add3', "
        "which nothing has written (80 times in all)"
    )
    (found,) = check(FAULTS["a local variable of a function"])
    assert "reads byte 4 of variable 'room' (16 bytes) of 'scratch'" in found.message
