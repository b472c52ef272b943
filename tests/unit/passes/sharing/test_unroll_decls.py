"""unroll-decls: what a declaration becomes, byte for byte."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite


def kernel(body: str) -> str:
    return f".version 1.4+\n.target sm_10\n.entry k (.param .u32 n)\n{{\n{body}\texit;\n}}\n"


def unroll(text: str) -> str:
    return rewrite(parse(text), "unroll-decls").module.source.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\t.reg .u32 $r<3>;\n", "\t.reg .u32 $r0;\n\t.reg .u32 $r1;\n\t.reg .u32 $r2;\n"),
        ("  .reg.pred p<2>;\n", "  .reg.pred p0;\n  .reg.pred p1;\n"),  # the name occurs in '.pred' too
        ("\t.reg .f32 %a, %b;\n", "\t.reg .f32 %a;\n\t.reg .f32 %b;\n"),
        ("\t.reg .b32 %x, %r<2>, %y;\n", "".join(f"\t.reg .b32 %{n};\n" for n in ("x", "r0", "r1", "y"))),
        ("\t.reg .v2 .f32 %v<2>;\n", "\t.reg .v2 .f32 %v0;\n\t.reg .v2 .f32 %v1;\n"),
        ("\t.reg .u32 %r<1>;\n", "\t.reg .u32 %r0;\n"),
        ("\t.reg .u32 $r<2>; // general\n", "\t.reg .u32 $r0;\n\t.reg .u32 $r1; // general\n"),
        ("\t.reg .u32 /* of g */ $r<2>;\n", "\t.reg .u32 /* of g */ $r0;\n\t.reg .u32 $r1;\n"),
        ("\t.reg .u32 a, // one\n\t  b;\n", "\t.reg .u32 a; // one\n\t  .reg .u32 b;\n"),
        ("\t.reg .u32 a,\n\t  b;\n", "\t.reg .u32 a;\n\t.reg .u32 b;\n"),
        ("\t.reg .u32 a /* , */, b<2>;\n", "\t.reg .u32 a /* , */; .reg .u32 b0;\n\t.reg .u32 b1;\n"),
        ("\t.reg .u32 $r < 2 > ;\n", "\t.reg .u32 $r0;\n\t.reg .u32 $r1 ;\n"),
        ("\t.reg .u32 a; .reg .u32 b<2>;\n", "\t.reg .u32 a; .reg .u32 b0;\n\t.reg .u32 b1;\n"),
        (
            "\t.reg .u32 a;\n\t{\n\t\t.reg .u32 b<2>;\n\t}\n",
            "\t.reg .u32 a;\n\t{\n\t\t.reg .u32 b0;\n\t\t.reg .u32 b1;\n\t}\n",
        ),
    ],
)
def test_declarations_become_one_per_register(before: str, after: str) -> None:
    assert unroll(kernel(before)) == kernel(after)


def test_line_ends_stay_those_of_the_file() -> None:
    text = kernel("\t.reg .u32 $r<2>;\n").replace("\n", "\r\n")
    assert unroll(text) == kernel("\t.reg .u32 $r0;\n\t.reg .u32 $r1;\n").replace("\n", "\r\n")


def test_sequence_numbers_stay() -> None:
    module = parse(kernel("\t.reg .u32 $r<3>;\n\t.reg .pred $p, $q<2>;\n"))
    after = rewrite(module, "unroll-decls").module
    names = [r.name for r in module.kernels["k"].registers]
    assert names == ["$r0", "$r1", "$r2", "$p", "$q0", "$q1"]
    assert [r.name for r in after.kernels["k"].registers] == names


def test_functions_are_unrolled_as_well_as_kernels() -> None:
    text = ".version 7.0\n.target sm_70\n.address_size 64\n.func f()\n{\n\t.reg .b32 %r<2>;\n\tret;\n}\n"
    assert "\t.reg .b32 %r0;\n\t.reg .b32 %r1;\n" in unroll(text)


def test_nothing_to_do_gives_the_same_module() -> None:
    module = parse(kernel("\t.reg .u32 $r0;\n"))
    result = rewrite(module, "unroll-decls")
    assert result.module is module
    assert str(result) == "unroll-decls: nothing to do: every declaration declares one register"


def test_remarks_name_function_and_line() -> None:
    result = rewrite(parse(kernel("\t.reg .u32 a;\n\t.reg .u32 $r<3>;\n")), "unroll-decls")
    (remark,) = result.remarks
    assert str(remark) == "unroll-decls: k: 1 declaration unrolled into 3 (line 6)"
    assert remark.to_dict() == {
        "pass": "unroll-decls",
        "message": "1 declaration unrolled into 3",
        "function": "k",
        "line": 6,
    }


def test_a_range_of_none_is_declined() -> None:
    with pytest.raises(PtxError, match="declares no register") as caught:
        unroll(kernel("\t.reg .u32 $r<0>;\n"))
    assert caught.value.diagnostics[0].code == "E301"
