"""Every directive of PTX and PTXPlus: where it is right, and where it may not stand.

The verdicts are those of ptxas 13.0 for sm_100a, asked once; `OLD` holds forms of PTX 1.x and of PTXPlus, which it no
longer takes or never did. A piece stands at module level (line 4), in a kernel's body (line 7), or is the whole file.
"""

from typing import NamedTuple

MODULE, BODY, FILE = "module", "body", "file"
_NEW = ".version 9.0\n.target sm_100a"
_HEAD = f"{_NEW}\n.address_size 64\n"
_KERNEL = f"{_HEAD}.func f() {{ ret; }}\n.entry k(.param .u32 n) {{\n.reg .b32 a; .reg .b64 x;\n"
_OLD_HEAD = ".version 1.4\n.target sm_10\n"
_DEBUG = ".section .debug_str {\n$L_info:\n.b8 107\n.b8 0\n}\n"


class Right(NamedTuple):
    """A directive and a text that has it where it belongs."""

    name: str
    place: str
    text: str


class Wrong(NamedTuple):
    """A directive, a text that has it where it may not stand, and the word that is to blame."""

    name: str
    place: str
    text: str
    blamed: str


def whole(sample: Right | Wrong) -> str:
    """The file that a sample makes."""
    match sample.place:
        case "module":
            return f"{_HEAD}{sample.text}\n"
        case "body":
            return f"{_KERNEL}{sample.text}\nret;\n}}\n"
        case _:
            return sample.text


RIGHT = (
    Right(".version", FILE, ".version 9.0\n.target sm_100a\n"),
    Right(".version", FILE, ".version 1.0\n.target sm_10\n"),
    Right(".target", FILE, ".version 1.4\n.target sm_10, map_f64_to_f32\n"),
    Right(".target", FILE, f"{_NEW}, texmode_independent, debug\n.section .debug_str {{ .b8 0 }}\n"),
    Right(".address_size", FILE, ".version 9.0\n.target sm_100a\n.address_size 64\n"),
    Right(".file", MODULE, '.file 1 "a.cu", 12, 34'),
    Right(".loc", BODY, ".loc 1 2 3"),
    Right(".loc", FILE, f"""{_HEAD}.file 1 "a.cu"
.entry k() {{
.loc 1 4 5
.loc 1 2 3, function_name $L_info, inlined_at 1 4 5
.loc 1 2 3, function_name $L_info+4, inlined_at 1 4 5
ret;
}}
{_DEBUG}"""),
    Right(".section", MODULE, ".section .debug_str { $L: .b8 107, 0 }"),
    Right(".section", MODULE, ".section .debug_info { .b32 .debug_str+4 .b64 $L-$L }\n.section .debug_str { $L: }"),
    Right("@@DWARF", FILE, f'{_OLD_HEAD}@@DWARF .section .debug_str, "", @progbits\n@@DWARF .byte 0x2b\n'),
    Right(".visible", MODULE, ".visible .global .u32 g;"),
    Right(".extern", MODULE, ".extern .global .u32 g;"),
    Right(".weak", MODULE, ".weak .func g() { ret; }"),
    Right(".common", MODULE, ".common .global .u32 g;"),
    Right(".entry", MODULE, ".entry g() { ret; }"),
    Right(".entry", FILE, f"{_OLD_HEAD}.entry g {{ exit; }}\n"),
    Right(".func", MODULE, ".func (.reg .u32 r) g (.reg .u32 a) { ret; }"),
    Right(".func", MODULE, ".func (.reg .u32 r, .reg .u32 s) g { ret; }"),
    Right(".noreturn", MODULE, ".func g() .noreturn { exit; }"),
    Right(".abi_preserve", MODULE, ".func g() .abi_preserve 4 { ret; }"),
    Right(".abi_preserve_control", MODULE, ".func g() .abi_preserve_control 4 { ret; }"),
    Right(".alias", MODULE, ".func g(); .func h() { ret; } .alias g, h;"),
    Right(".attribute", MODULE, ".global .attribute(.managed) .u32 g;"),
    Right(".attribute", MODULE, ".attribute(.managed) .global .u32 g;"),
    Right(".pragma", MODULE, '.pragma "nounroll";'),
    Right(".pragma", MODULE, '.entry g() .pragma "nounroll"; { ret; }'),
    Right(".pragma", BODY, '.pragma "nounroll", "used_bytes_mask 4";'),
    Right(".maxnreg", MODULE, ".entry g() .maxnreg 16 { ret; }"),
    Right(".maxntid", MODULE, ".entry g() .maxntid 16, 16, 1 { ret; }"),
    Right(".reqntid", MODULE, ".entry g() .reqntid 16, 16 { ret; }"),
    Right(".minnctapersm", MODULE, ".entry g() .maxntid 32 .minnctapersm 2 { ret; }"),
    Right(".maxnctapersm", FILE, f"{_OLD_HEAD}.entry g() .maxntid 32 .maxnctapersm 2 {{ exit; }}\n"),
    Right(".explicitcluster", MODULE, ".entry g() .explicitcluster { ret; }"),
    Right(".reqnctapercluster", MODULE, ".entry g() .reqnctapercluster 2, 1, 1 { ret; }"),
    Right(".maxclusterrank", MODULE, ".entry g() .maxclusterrank 8 { ret; }"),
    Right(".blocksareclusters", MODULE, ".entry g() .reqntid 32 .reqnctapercluster 2 .blocksareclusters { ret; }"),
    Right(".callprototype", BODY, "p: .callprototype _ (.param .b32 _, .param .align 8 .b8 _[16]) .noreturn;"),
    Right(".callprototype", BODY, "p: .callprototype (.param .b32 _) _ () .abi_preserve 4 .abi_preserve_control 2;"),
    Right(".calltargets", BODY, "t: .calltargets f, f;"),
    Right(".branchtargets", BODY, "L: t: .branchtargets L, L;"),
    Right("generic", MODULE, ".global .u32 g; .global .u64 p[2] = {generic(g), generic(g)+4};"),
    Right("mask", MODULE, ".global .u32 g; .global .u8 p[3] = {0xFF(g), 0xFF00(generic(g)), 0xFF0000(g+4)};"),
    Right(".texref", MODULE, ".global .texref t = { width = 4, normalized_coords = 1 };"),
    Right(".samplerref", FILE, f"{_NEW}, texmode_independent\n.global .samplerref t = {{ addr_mode_0 = wrap }};\n"),
    Right(".surfref", MODULE, ".global .surfref t, u;"),
    Right(".tex", FILE, f"{_OLD_HEAD}.tex .u32 t;\n.entry g {{ exit; }}\n"),
    Right(".ptr", MODULE, ".entry g(.param .u64 .ptr .global .align 16 p) { ret; }"),
    Right(".align", MODULE, ".global .align 16 .b8 g[32];"),
    Right(".const", MODULE, ".const .align 4 .f32 c[2] = {1.0, -2.5};"),
    Right(".global", MODULE, ".global .u32 g[2][2] = {{1, 2}, {3}};"),
    Right(".param", BODY, ".param .align 8 .b8 q[16];"),
    Right(".local", BODY, ".local .align 8 .b8 depot[32];"),
    Right(".shared", BODY, ".shared .u32 s[4];"),
    Right(".reg", BODY, ".reg .v4 .f32 v, w; .reg .pred p<4>;"),
)  # fmt: skip

OLD = (
    Right(".sreg", FILE, f"{_OLD_HEAD}.sreg .u32 s;\n"),
    Right(".surf", FILE, f"{_OLD_HEAD}.surf .u32 t;\n"),
    Right(".version", FILE, ".version 1.4+\n.target sm_10\n"),
    Right(
        ".constptr", FILE, ".version 1.4+\n.target sm_10\n.const .u32 c[2] = {1, 2};\n.constptr p, c, 4;\n"
    ),
    Right(".sstarr", FILE, ".version 1.4+\n.target sm_10\n.sstarr .u32 s[4];\n"),
    Right(".tex", FILE, ".version 1.4+\n.target sm_10\n.entry k\n.tex .u64 t\n{ exit; }\n"),
    Right(".attribute", MODULE, ".global .attribute(.managed, .unified(19, 95)) .u32 g;"),
    Right(".attribute", MODULE, ".func .attribute(.unified(19, 95)) g() { ret; }"),
)

WRONG = (
    Wrong(".version", BODY, ".version 9.0", ".version"),
    Wrong(".address_size", BODY, ".address_size 64", ".address_size"),
    Wrong(".file", BODY, '.file 1 "a.cu"', ".file"),
    Wrong(".loc", MODULE, ".loc 1 2 3", ".loc"),
    Wrong(".loc", BODY, ".loc 1 2 3, inlined_at 1 4 5, function_name L", "inlined_at"),
    Wrong(".section", BODY, ".section .debug_str { .b8 107 }", ".section"),
    Wrong("@@DWARF", MODULE, "@DWARF .section", "@DWARF"),
    Wrong(".visible", BODY, ".visible .reg .u32 r;", ".visible"),
    Wrong(".extern", BODY, ".extern .shared .u32 s[];", ".extern"),
    Wrong(".weak", BODY, ".weak .global .u32 g;", ".weak"),
    Wrong(".common", MODULE, ".common .func g() { ret; }", ".common"),
    Wrong(".noreturn", MODULE, ".entry g() .noreturn { exit; }", ".noreturn"),
    Wrong(".noreturn", BODY, ".noreturn;", ".noreturn"),
    Wrong(".abi_preserve", MODULE, ".entry g() .abi_preserve 4 { ret; }", ".abi_preserve"),
    Wrong(".abi_preserve_control", MODULE, ".entry g() .abi_preserve_control 4 { ret; }", ".abi_preserve_control"),
    Wrong(".alias", BODY, ".alias g, f;", ".alias"),
    Wrong(".attribute", MODULE, ".global .u32 .attribute(.managed) g;", ".attribute"),
    Wrong(".attribute", MODULE, ".entry .attribute(.unified(19, 95)) g() { ret; }", ".attribute"),
    Wrong(".pragma", BODY, "add.u32 a, a, .pragma;", ".pragma"),
    Wrong(".maxnreg", BODY, ".maxnreg 16", ".maxnreg"),
    Wrong(".maxntid", MODULE, ".func g() .maxntid 16 { ret; }", ".maxntid"),
    Wrong(".reqntid", MODULE, ".func g() .reqntid 16 { ret; }", ".reqntid"),
    Wrong(".minnctapersm", MODULE, ".minnctapersm 2", ".minnctapersm"),
    Wrong(".maxnctapersm", MODULE, ".func g() .maxnctapersm 2 { ret; }", ".maxnctapersm"),
    Wrong(".explicitcluster", MODULE, ".func g() .explicitcluster { ret; }", ".explicitcluster"),
    Wrong(".reqnctapercluster", MODULE, ".func g() .reqnctapercluster 2 { ret; }", ".reqnctapercluster"),
    Wrong(".maxclusterrank", MODULE, ".func g() .maxclusterrank 8 { ret; }", ".maxclusterrank"),
    Wrong(".blocksareclusters", BODY, ".blocksareclusters", ".blocksareclusters"),
    Wrong(".callprototype", MODULE, "p: .callprototype _ ();", "p:"),
    Wrong(".callprototype", BODY, ".callprototype _ ();", ".callprototype"),
    Wrong(".calltargets", BODY, ".calltargets f;", ".calltargets"),
    Wrong(".branchtargets", BODY, ".branchtargets L;", ".branchtargets"),
    Wrong(".branchtargets", MODULE, "t: .branchtargets L;", "t:"),
    Wrong("generic", BODY, "mov.b64 x, generic(k);", "("),
    Wrong("mask", BODY, "mov.b32 a, 0xFF(n);", "("),
    Wrong(".texref", BODY, ".texref t;", ".texref"),
    Wrong(".samplerref", MODULE, ".samplerref t;", ".samplerref"),
    Wrong(".surfref", MODULE, ".global t .surfref;", ".surfref"),
    Wrong(".tex", BODY, "mov.u32 a, .tex;", ".tex"),
    Wrong(".ptr", MODULE, ".global .u64 .ptr .global p;", ".ptr"),
    Wrong(".align", MODULE, ".global .b8 .align 16 g[32];", ".align"),
    Wrong(".const", BODY, ".const c;", "c"),
    Wrong(".local", BODY, ".local depot;", "depot"),
    Wrong(".reg", MODULE, ".entry g() .reg .u32 r; { ret; }", ".reg"),
    Wrong(".language", MODULE, ".language 1", ".language"),
)  # fmt: skip
