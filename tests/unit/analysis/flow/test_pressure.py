"""Register pressure, counted by hand."""

from kernels import ptx, ptxplus

from ptxtool.analysis.flow.pressure import pressure


def test_ptx_counts_32_bit_registers_and_predicates_apart() -> None:
    kernel = ptx(
        "ld.param.u64 %rd1, [a];\n"
        "mov.b32 %r1, 1;\n"
        "setp.eq.s32 %p1, %r1, 0;\n"
        "mov.b16 %h1, 3;\n"
        "@%p1 st.global.u16 [%rd1], %h1;\n"
        "st.global.u32 [%rd1], %r1;\n"
        "ret;"
    )
    found = pressure(kernel)
    assert found.curve == (0, 2, 3, 3, 4, 3, 0)
    assert found.predicates == (0, 0, 0, 1, 1, 0, 0)
    assert found.addresses == (0,) * 7
    assert (found.maximum, found.at, found.line) == (4, 4, 11)
    assert [(h.name, h.units, h.def_lines, h.use_lines) for h in found.holders] == [
        ("%p1", 0, (9,), (11,)),
        ("%h1", 1, (10,), (11,)),
        ("%r1", 1, (8,), (9, 12)),
        ("%rd1", 2, (7,), (11, 12)),
    ]


def test_ptxplus_counts_address_registers_apart() -> None:
    found = pressure(ptxplus("mov.u32 $r1, s[$ofs1]; mov.u32 s[$ofs2], $r1; exit;"))
    assert found.curve == (0, 1, 0)
    assert found.addresses == (2, 1, 0)
    assert (found.max_addresses, found.max_predicates) == (2, 0)


def test_per_warp_counts_waiting_lanes_and_per_thread_does_not() -> None:
    kernel = ptx("@%p0 bra A; mov.b32 %r1, %r2; bra J; A: mov.b32 %r1, %r3; J: st.shared.u32 [0], %r1; ret;")
    assert pressure(kernel, per="thread").curve == (2, 1, 1, 1, 1, 0)
    assert pressure(kernel).curve == (2, 3, 2, 3, 1, 0)


def test_nothing_to_count() -> None:
    found = pressure(ptx(""))
    assert (found.maximum, found.at, found.line, found.holders) == (0, None, None, ())
    assert str(found) == "no instructions"


def test_text() -> None:
    assert str(pressure(ptxplus("mov.u32 $r1, $r2;\nmov.u32 g[$r3], $r1;\nexit;"))) == (
        "2 live 32-bit registers before line 6: mov.u32 $r1, $r2;\n"
        "most predicates 0, most address registers 0\n"
        "  $r2  general  defined: nowhere; used: 6\n"
        "  $r3  general  defined: nowhere; used: 7"
    )


def test_plain_data() -> None:
    data = pressure(ptxplus("mov.u32 g[$r3], $r1; exit;")).to_dict()
    assert (data["kernel"], data["maximum"], data["instruction"], data["curve"]) == ("k", 2, 0, [2, 0])
