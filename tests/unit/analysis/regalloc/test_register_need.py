"""Registers of a thread with all it calls, worked out by hand."""

import pytest

from ptxtool.analysis.regalloc.register_need import RegisterNeed, register_need, registers_per_thread
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
# 3 live before the last add: %x, %y, %z; then %y takes %x's place
THREE = """
.func (.param .b32 out) three(.param .b32 in)
{
    .reg .b32 %x, %y, %z;
    ld.param.b32 %x, [in];
    mov.b32 %y, %tid.x;
    mov.b32 %z, %tid.y;
    add.s32 %y, %x, %y;
    add.s32 %z, %y, %z;
    st.param.b32 [out], %z;
    ret;
}
"""
PAIR = """
.func pair(.param .b64 in)
{
    .reg .b64 %d;
    ld.param.b64 %d, [in];
    st.global.b32 [%d], 1;
    ret;
}
"""


def need(text: str, name: str = "k") -> RegisterNeed:
    return register_need(parse(HEAD + text).functions[name])


def counts(found: RegisterNeed) -> tuple[int, int, tuple[str, ...]]:
    return found.live, found.registers, found.chain


def kernel(before: str, call: str, after: str) -> str:
    """A kernel with a call of a function of one word and its result, which goes to %s."""
    return f"""
.visible .entry k(.param .b32 n)
{{
    .reg .b32 %a<8>, %s;
    .reg .b64 %l<4>;
    .reg .pred %p<4>;
    {before}
    {{
        .param .b32 x;
        .param .b32 y;
        st.param.b32 [x], %a0;
        {call}
        ld.param.b32 %s, [y];
    }}
    {after}
    ret;
}}
"""


def test_a_kernel_without_calls() -> None:
    text = """
.visible .entry k(.param .b64 n)
{
    .reg .b32 %a;
    .reg .b64 %d, %e;
    ld.param.b64 %d, [n];
    ld.global.b32 %a, [%d];
    ld.global.b64 %e, [%d+8];
    st.global.b32 [%e], %a;
    ret;
}
"""
    # %a and %d, then %a and %e: 3 units, but the pair is aligned and %a cannot stand inside it
    assert counts(need(text)) == (3, 3, ("k",))
    assert str(need(text)) == "3 live at once, 3 allocated; 0 predicates"


def test_a_callee_stands_behind_what_lives_across_its_call() -> None:
    # %a1, %a2 live across: 2 + 3; %a0 dies as the argument
    before = "mov.b32 %a0, %tid.x; mov.b32 %a1, %tid.y; mov.b32 %a2, %tid.z;"
    text = THREE + kernel(before, "call (y), three, (x);", "add.s32 %s, %a1, %a2;")
    found = need(text)
    assert counts(found) == (5, 5, ("k", "three"))
    assert found.alone == 3


def test_what_the_kernel_needs_elsewhere_may_be_more() -> None:
    # 5 live at once before the call, one across it
    before = "; ".join(f"mov.b32 %a{i}, %tid.x" for i in range(5)) + ";"
    before += "".join(f"add.s32 %a0, %a0, %a{i};" for i in range(1, 5))
    text = THREE + kernel(before, "call (y), three, (x);", "add.s32 %s, %s, %a1;")
    assert counts(need(text)) == (5, 5, ("k",))


def test_a_callee_with_pairs_begins_at_an_even_unit() -> None:
    # one unit across; a pair after it begins at 2, not at 1
    text = (
        PAIR
        + """
.visible .entry k(.param .b64 n)
{
    .reg .b32 %a;
    mov.b32 %a, %tid.x;
    {
        .param .b64 x;
        st.param.b64 [x], 0;
        call pair, (x);
    }
    st.shared.b32 [0], %a;
    ret;
}
"""
    )
    assert counts(need(text)) == (3, 4, ("k", "pair"))


def test_predicates_across_a_call_are_bits_of_one_unit() -> None:
    before = "mov.b32 %a0, %tid.x; setp.eq.s32 %p0, %a0, 1; setp.eq.s32 %p1, %a0, 2;"
    text = THREE + kernel(before, "call (y), three, (x);", "@%p0 add.s32 %s, %s, 1; @%p1 add.s32 %s, %s, 2;")
    found = need(text)
    assert counts(found) == (4, 4, ("k", "three"))
    assert found.predicates == 2


def test_the_result_does_not_live_across() -> None:
    text = THREE + kernel("mov.b32 %a0, %tid.x;", "call (y), three, (x);", "st.shared.b32 [0], %s;")
    assert counts(need(text)) == (3, 3, ("k", "three"))
    assert need(text).alone == 1


def test_chains_add_up() -> None:
    middle = """
.func (.param .b32 out) middle(.param .b32 in)
{
    .reg .b32 %a, %b;
    ld.param.b32 %a, [in];
    {
        .param .b32 x;
        .param .b32 y;
        st.param.b32 [x], %a;
        call (y), three, (x);
        ld.param.b32 %b, [y];
    }
    add.s32 %a, %a, %b;
    st.param.b32 [out], %a;
    ret;
}
"""
    before = "mov.b32 %a0, %tid.x; mov.b32 %a1, %tid.y;"
    text = THREE + middle + kernel(before, "call (y), middle, (x);", "add.s32 %s, %s, %a1;")
    assert counts(need(text)) == (5, 5, ("k", "middle", "three"))  # %a1 and %a and three's 3


def test_recursion_counts_once() -> None:
    # n and f = 2 registers live at most in it; the kernel holds one across
    recursive = """
.func (.param .b32 out) down(.param .b32 in)
{
    .reg .b32 %n, %f;
    .reg .pred %p;
    ld.param.b32 %n, [in];
    mov.b32 %f, 1;
    setp.le.u32 %p, %n, 1;
    @%p bra DONE;
    {
        .param .b32 x;
        .param .b32 y;
        st.param.b32 [x], %n;
        call (y), down, (x);
        ld.param.b32 %f, [y];
    }
    mul.lo.u32 %f, %f, %n;
DONE:
    st.param.b32 [out], %f;
    ret;
}
"""
    before = "mov.b32 %a0, %tid.x; mov.b32 %a1, %tid.y;"
    text = recursive + kernel(before, "call (y), down, (x);", "add.s32 %s, %s, %a1;")
    assert counts(need(text)) == (3, 3, ("k", "down"))


def test_a_function_without_a_body_is_named() -> None:
    text = kernel("mov.b32 %a0, %tid.x;", "call (y), far, (x);", "st.shared.b32 [0], %s;")
    found = need(".extern .func (.param .b32 out) far(.param .b32 in);" + text)
    assert found.uncounted == ("'far', which has no body here",)
    assert str(found).endswith("\nnot counted: 'far', which has no body here")


def test_a_call_through_a_register_is_named() -> None:
    call = "mov.b64 %l0, three;\ncall (y), %l0, (x), proto;"
    text = THREE + kernel("mov.b32 %a0, %tid.x;", call, "st.shared.b32 [0], %s;")
    text = text.replace("    {\n", "    proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n    {\n", 1)
    line = 1 + (HEAD + text)[: (HEAD + text).index("call (y)")].count("\n")
    assert need(text).uncounted == (f"what line {line} calls through '%l0'",)


def test_a_list_of_targets_is_followed() -> None:
    call = "mov.b64 %l0, three; call (y), %l0, (x), list;"
    text = kernel("mov.b32 %a0, %tid.x; mov.b32 %a1, %tid.y;", call, "add.s32 %s, %s, %a1;")
    text = text.replace("    {\n", "    list: .calltargets three;\n    {\n", 1)
    found = need(THREE + text)
    assert (found.live, found.registers, found.uncounted) == (4, 4, ())  # %a1 across, and three's 3


def test_vectors_are_refused_by_name() -> None:
    with pytest.raises(PtxError, match="registers of vector type"):
        need(".visible .entry k()\n{\n.reg .v2 .f32 %v;\nret;\n}\n")


def test_a_launch_that_does_not_say() -> None:
    """%d is two registers, %x and %y one each, all live before the store."""
    loads = "ld.param.b64 %d, [p]; ld.param.b32 %x, [p]; mov.b32 %y, %x;"
    body = f"{loads} add.s32 %y, %x, %y; st.v2.b32 [%d], {{%x, %y}}; ret;"
    text = f"{HEAD}.entry k(.param .b64 p)\n{{\n.reg .b32 %x, %y;\n.reg .b64 %d;\n{body}\n}}\n"
    assert registers_per_thread(parse(text).functions["k"]) == 4
    vectors = f"{HEAD}.entry k()\n{{\n.reg .v4 .b32 %v;\nmov.b32 %v.x, 1;\nst.b32 [0], %v.x;\nret;\n}}\n"
    assert registers_per_thread(parse(vectors).functions["k"]) == 4
    plus = ".version 1.4+\n.entry k()\n{\n.reg .u32 $r<8>;\n.reg .pred $p0;\nexit;\n}\n"
    assert registers_per_thread(parse(plus, "k.ptxplus").functions["k"]) == 8


@pytest.mark.slow
def test_a_long_chain_of_calls() -> None:
    functions = [".func f0()\n{\nret;\n}\n"]
    functions += [f".func f{i}()\n{{\ncall f{i - 1};\nret;\n}}\n" for i in range(1, 1500)]
    found = need("".join(functions), "f1499")
    assert counts(found) == (0, 0, ("f1499",))
