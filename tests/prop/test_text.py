"""Whatever the text, it becomes a module or diagnostics: parsed, emitted, checked and laid out, nothing else happens.

The texts are made of pieces that belong together: directives and declarations at module level, heads with parameters
and tuning directives, bodies of declarations, debug lines, labels with lists, calls and instructions. Most of them are
syntactically right; some are spoilt.
"""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.emit import emit
from ptxtool.emit.layout import layout
from ptxtool.parse import parse, parse_with_lark
from ptxtool.validate.layout import check_only_layout_changed

HEADERS = st.sampled_from(
    (
        *(f".version {v}\n.target {t}\n" for v in ("1.0", "7.0", "9.0") for t in ("sm_20", "sm_90a")),
        ".version 1.4\n.target sm_10, map_f64_to_f32\n",
        ".version 1.5\n.target sm_13, texmode_independent, debug\n.address_size 32\n",
        ".version 1.4+\n.target sm_10\n",
    )
)
NAME = st.sampled_from(("a", "b", "f", "g", "k", "%r1", "$L_1", "_x", "tid"))
INTEGER = st.sampled_from(("0", "1", "4", "16", "0x1F", "017", "0b11", "4U", "99999999999"))
NUMBER = st.one_of(INTEGER, st.sampled_from(("-1", "1.5", "1e5", "-4", "WARP_SZ")))
TYPE = st.sampled_from((".u32", ".b8", ".f64", ".v2 .f32", ".v4 .b32", ".pred", ".texref", ".b128"))
SPACE = st.sampled_from(
    (".global", ".shared", ".local", ".const", ".param", ".sreg", ".tex", ".surf", ".sstarr")
)
LINKAGE = st.sampled_from(("", "", ".visible ", ".extern ", ".weak "))
ATTRIBUTE = st.sampled_from(("", "", " .attribute(.managed)", " .attribute(.unified(1, 2))", " .align 8"))
STRING = st.sampled_from(('"nounroll"', '"a.cu"', '"used_bytes_mask 4"', '""', '"é"'))
OPERATOR = st.sampled_from(("+", "-", "*", "/", "%", "<<", "|", "&&", "=="))
CONSTANT = st.recursive(
    NUMBER,
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, OPERATOR, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("({})".format, inner),
        st.builds("(.s64) -{}".format, inner),
        st.builds("!~{}".format, inner),
    ),
    max_leaves=6,
)
SYMBOL = st.one_of(NAME, st.builds("{}+{}".format, NAME, INTEGER))
ADDRESS = st.one_of(SYMBOL, st.builds("generic({})+{}".format, NAME, INTEGER))
VALUE = st.recursive(
    st.one_of(CONSTANT, ADDRESS, st.builds("0xff00({})".format, ADDRESS), st.just("0d3FF0000000000000")),
    lambda inner: st.lists(inner, max_size=4).map(", ".join).map("{{{}}}".format),
    max_leaves=8,
)
DECLARED = st.builds("{}{}".format, NAME, st.sampled_from(("", "", "[4]", "[2][3]", "[]", "[0]")))
DECLARATION = st.one_of(
    st.builds(".reg {} {}{};".format, TYPE, NAME, st.sampled_from(("", "<4>", "<0>", "<100000>", ", z"))),
    st.builds("{}{} {} {};".format, SPACE, ATTRIBUTE, TYPE, DECLARED),
    st.builds("{}{} {} {} = {};".format, SPACE, ATTRIBUTE, TYPE, DECLARED, VALUE),
    st.builds(".global .samplerref {} = {{addr_mode_0 = clamp_to_edge, filter_mode = 1}};".format, NAME),
)
PARAMETER = st.builds(
    "{} {}{}".format,
    st.sampled_from(
        (".param .u32", ".param .u64 .ptr .global .align 16", ".param .align 8 .b8", ".reg .f32")
    ),
    NAME,
    st.sampled_from(("", "", "[8]", "[]")),
)
PARAMETERS = st.lists(PARAMETER, max_size=3).map(", ".join).map("({})".format) | st.just("")
OF_KERNELS = st.sampled_from(
    (
        *("", ".maxntid 256, 1, 1", ".reqntid 32", ".minnctapersm 2", ".maxnctapersm 4", ".maxnreg 32"),
        *(".explicitcluster .reqnctapercluster 2, 1, 1", ".maxclusterrank 8", ".blocksareclusters"),
        *('.pragma "nounroll";', ".tex .u64 t"),
    )
)
OF_FUNCTIONS = st.sampled_from(("", ".noreturn", ".abi_preserve 4", ".abi_preserve_control 2"))
OPERAND = st.one_of(
    CONSTANT,
    SYMBOL,
    st.builds("[{}+{}]".format, NAME, INTEGER),
    st.builds("[{}, {{{}, {}}}]".format, NAME, NAME, NAME),
    st.builds("{{{}, {}, _}}".format, NAME, INTEGER),
    st.builds("{}[{}]".format, NAME, INTEGER),
    st.builds("{}|{}".format, NAME, NAME),
    st.builds("!{}".format, NAME),
)
OPCODE = st.sampled_from(
    (
        *("add.u32", "mov.b64", "ld.global.v2.f32", "st.shared::cta.b8", "bra", "brx.idx", "ret", "bar.sync"),
        *("setp.lt.and.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tex.2d.v4.f32.f32"),
        *(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
            "frob",
            "set .eq .u32",
        ),
    )
)
GUARD = st.sampled_from(("", "", "", "@a ", "@!%r1 ", "@ ! a "))
INSTRUCTION = st.builds("{}{} {};".format, GUARD, OPCODE, st.lists(OPERAND, max_size=4).map(", ".join))
CALL = st.one_of(
    st.builds("{}call.uni ({}), {}, ({}, {});".format, GUARD, NAME, NAME, NAME, INTEGER),
    st.builds("call {}, ({}), {};".format, NAME, NAME, NAME),
    st.builds("call {};".format, NAME),
)
LIST = st.one_of(
    st.builds("{}: .branchtargets {}, {};".format, NAME, NAME, NAME),
    st.builds("{}: .calltargets {};".format, NAME, NAME),
    st.builds("{}: .callprototype ({}) _ ({}) {};".format, NAME, PARAMETER, PARAMETER, OF_FUNCTIONS),
)
COMMENT = st.sampled_from(
    ("\n@@DWARF x\n", "// c\n", "/* é */", '\n# 12 "a.cu"\n', "\r\n", "\f\t", '.pragma "nounroll";')
)
LINE = st.sampled_from(
    (".loc 1 2 3\n", ".loc 1 2 3, function_name $L_1+4, inlined_at 1 5 6\n", ".loc 4 0 0\n")
)
BODY = st.recursive(
    st.one_of(INSTRUCTION, INSTRUCTION, CALL, DECLARATION, LIST, LINE, COMMENT, NAME.map("{}:".format)),
    lambda inner: st.lists(inner, max_size=4).map("\n".join).map("{{\n{}\n}}".format),
    max_leaves=10,
)
BODIES = st.lists(BODY, max_size=5).map("\n".join)
FUNCTION = st.one_of(
    st.builds("{}.entry {}{} {}\n{{\n{}\n}}".format, LINKAGE, NAME, PARAMETERS, OF_KERNELS, BODIES),
    st.builds("{}.func {}{} {}\n{{\n{}\n}}".format, LINKAGE, NAME, PARAMETERS, OF_FUNCTIONS, BODIES),
    st.builds("{}.func ({}) {}{} {};".format, LINKAGE, PARAMETER, NAME, PARAMETERS, OF_FUNCTIONS),
)
ITEM = st.one_of(
    FUNCTION,
    FUNCTION,
    st.builds("{}{}".format, LINKAGE, DECLARATION),
    st.builds(".file {} {}".format, INTEGER, STRING),
    st.builds(".alias {}, {};".format, NAME, NAME),
    st.builds(".constptr {}, {}, {};".format, NAME, NAME, INTEGER),
    st.builds(".section .debug_str {{ $L_1: .b8 {}, 1 .b32 {}+{} }}".format, INTEGER, NAME, INTEGER),
    COMMENT,
)
SPOILT = st.sampled_from(("", "", ";", "{", "}", "(", '"', "/*", ".", "@", ",", "0x", "\0", "é"))


@st.composite
def texts(draw: st.DrawFn) -> str:
    text = draw(HEADERS) + "\n".join(draw(st.lists(ITEM, max_size=4)))
    for _ in range(draw(st.sampled_from((0, 0, 0, 1)))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(SPOILT) + text[at + 1 :]
    return text


@settings(deadline=None, max_examples=300)
@given(texts())
@example(".version 8.0\n.target sm_90\n.func f() { ret.u64 ; }")
@example(".version 8.0\n.target sm_05\n")
@example(".version 8.0\n.target sm_90\n.global .f64 a =f31.0 +\n 2.0;")
def test_a_module_or_diagnostics(text: str) -> None:
    try:
        module = parse(text)
    except PtxError as refusal:
        found = (*refusal.diagnostics, *api.check_recovered(refusal))
    else:
        found = ()
        assert parse_with_lark(text) == module
        assert emit(module) == text
        assert all(str(problem) for problem in api.check(module))
        laid_out = layout(module)
        assert check_only_layout_changed(module, parse(laid_out)) == ()
        assert layout(parse(laid_out)) == laid_out
    assert all(problem.help and str(problem) for problem in found)
