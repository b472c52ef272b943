"""Registers, their order and their names; labels."""

from kernels import ptx, ptxplus

from ptxtool.parse import parse


def test_the_register_sharing_papers_listing_numbers_predicate_zero_and_sink_31_35_36() -> None:
    kernel = ptxplus(
        "exit;",
        ".reg .u32 $r<27>; .reg .u32 $ofs<3>; .reg .pred $p<4>;\n.reg .u32 $r124;\n.reg .u32 $o127;",
    )
    numbers = {r.name: r.sequence_number for r in kernel.registers}
    assert (numbers["$r0"], numbers["$r26"], numbers["$ofs0"], numbers["$p0"]) == (1, 27, 28, 31)
    assert (numbers["$r124"], numbers["$o127"]) == (35, 36)
    assert len(kernel.registers) == 36


def test_classes_of_ptxplus_registers() -> None:
    kinds = {r.name: r.kind for r in ptxplus("exit;").registers}
    assert kinds["$r1"] == "general"
    assert kinds["$ofs1"] == "address"
    assert kinds["$p1"] == "predicate"
    assert kinds["$r124"] == "zero"
    assert kinds["$o127"] == "sink"


def test_classes_and_units_of_ptx_registers() -> None:
    registers = ptx("ret;", ".reg .pred %p; .reg .b16 %h; .reg .f64 %fd; .reg .v4 .f32 %v;").registers
    assert [(r.name, r.kind, r.units) for r in registers] == [
        ("%p", "predicate", 0),
        ("%h", "16-bit", 1),
        ("%fd", "64-bit", 2),
        ("%v", "128-bit", 4),
    ]
    assert registers[3].vector == 4


def test_ptx_has_no_zero_register_whatever_its_name() -> None:
    assert ptx("ret;", ".reg .u32 $r124;").registers[0].role == ""


def test_a_nested_block_hides_and_continues_the_counter() -> None:
    kernel = ptx("{ .reg .b32 %a; mov.b32 %a, 1; } mov.b32 %a, 2; mov.b32 %b, 3; ret;", ".reg .b32 %a, %b;")
    registers = kernel.registers
    assert [(r.name, r.sequence_number) for r in registers] == [("%a", 1), ("%b", 2), ("%a", 3)]
    assert [registers.resolve_index("%a", i) for i in range(4)] == [2, 0, 0, 0]
    assert registers.resolve_index("%b", 0) == 1


def test_sibling_blocks_do_not_see_each_other() -> None:
    kernel = ptx("{ .reg .b32 %t; mov.b32 %t, 1; } { mov.b32 %t, 1; } ret;", "")
    assert [kernel.registers.resolve_index("%t", i) for i in range(3)] == [0, -1, -1]


def test_a_name_is_not_seen_before_its_declaration() -> None:
    kernel = ptx("{ mov.b32 %a, 1; .reg .b32 %a; mov.b32 %a, 1; } ret;", ".reg .b32 %a;")
    assert [kernel.registers.resolve_index("%a", i) for i in range(3)] == [0, 1, 0]


def test_a_large_range_is_not_expanded_to_answer() -> None:
    registers = ptx("ret;", ".reg .b32 %r<4000000000>; .reg .f32 %f<2>;").registers
    assert len(registers) == 4_000_000_002
    assert registers.resolve_index("%r3999999999", 0) == 3_999_999_999
    assert registers.resolve_index("%r4000000000", 0) == -1
    assert registers[4_000_000_001].name == "%f1"
    assert registers.special_bits == 0


def test_numbers_of_a_range_have_no_leading_zeros() -> None:
    registers = ptx("ret;").registers
    assert registers.resolve("%r01", 0) is None
    assert registers.resolve("%r", 0) is None


def test_a_repeated_name_keeps_its_first_number_and_is_reported() -> None:
    registers = ptx("ret;", ".reg .b32 %r1; .reg .b32 %r<3>; .reg .b32 %r<4>;").registers
    assert registers.names == ("%r1", "%r0", "%r2", "%r3")
    assert [d.name for d in registers.duplicates] == ["%r1", "%r0", "%r1", "%r2"]


def test_ranges_whose_prefixes_differ_by_digits_can_repeat_a_name() -> None:
    registers = ptx("ret;", ".reg .b32 %r<12>; .reg .b32 %r1<3>;").registers
    assert registers.names[-1] == "%r12"
    assert len(registers) == 13
    assert registers.resolve_index("%r11", 0) == 11


def test_special_registers_and_the_blank_are_no_registers() -> None:
    registers = ptxplus("exit;").registers
    assert [registers.resolve(n, 0) for n in ("%tid", "_", "l_exit", "")] == [None] * 4


def test_register_parameters_of_a_function_come_first() -> None:
    text = ".version 7.0\n.target sm_70\n.func (.reg .b32 %o) f (.reg .b32 %i) { .reg .b32 %t; ret; }\n"
    function = parse(text).functions["f"]
    assert function.registers.names == ("%o", "%i", "%t")


def test_the_zero_register_may_be_part_of_a_range() -> None:
    registers = ptxplus("exit;", ".reg .u32 $r<126>;").registers
    assert registers.special_bits == 1 << 124
    assert registers[124].is_zero
    assert not registers[123].is_zero


def test_labels_of_a_block_hide_those_outside() -> None:
    kernel = ptx("L: mov.b32 %r0, 1; { bra L; L: mov.b32 %r0, 2; } bra L; { bra L; } ret;")
    labels = kernel.label_table
    assert [labels.resolve("L", i) for i in (1, 3, 4)] == [2, 0, 0]
    assert labels.resolve("M", 0) is None
    assert labels.targets() == (0, 2)


def test_a_branch_target_list_is_no_label() -> None:
    kernel = ptx("A: ts: .branchtargets A, B; brx.idx %r0, ts; B: ret;")
    labels = kernel.label_table
    assert labels.resolve_list("ts", 0) == (0, 1)
    assert labels.resolve("ts", 0) is None
    assert labels.resolve_list("A", 0) is None


def test_equal_targets_of_a_branch_target_list_are_one_object() -> None:
    labels = ptx(
        "A: ts: .branchtargets A, B, A; brx.idx %r0, ts; { B: brx.idx %r0, ts; } B: ret;"
    ).label_table
    assert labels.distinct_targets("ts", 0) == (0, 2)
    assert labels.distinct_targets("ts", 0) is labels.distinct_targets("ts", 2)
    assert labels.distinct_targets("ts", 1) == (0, 1)
    assert labels.distinct_targets("A", 0) is None


def test_what_a_name_means_wherever_it_stands() -> None:
    kernel = ptx(
        "{ .reg .b32 %a; mov.b32 %a, 1; } .reg .b32 %late<3>; mov.b32 %late1, %r1;", ".reg .b32 %r<9>;"
    )
    everywhere = kernel.registers.everywhere
    assert [everywhere[name] for name in ("%r8", "%r9", "%tid", "1")] == [(8,), (), (), ()]
    assert [everywhere[name] for name in ("%a", "%late1", "%late3")] == [None, None, ()]


def test_a_large_range_settles_name_by_name() -> None:
    everywhere = ptx("mov.b32 %r1, 1;", ".reg .b32 %r<1000000000>;").registers.everywhere
    assert (everywhere["%r999999999"], everywhere["%r1000000000"], len(everywhere)) == ((999999999,), (), 2)


def test_registers_by_their_declarators() -> None:
    """Three declarators: `%r3` to `%r5` have indices 3 to 5, `%x` and `%y` after them."""
    registers = ptx("ret;", ".reg .b32 %r<6>, %x; .reg .b64 %y;").registers
    groups = list(registers.by_declarator([3, 4, 6, 7]))
    assert groups == [[3, 4], [6], [7]]
    assert [registers.names_of(some) for some in groups] == [["%r3", "%r4"], ["%x"], ["%y"]]


def test_names_of_a_range_that_repeats_names_before_it() -> None:
    registers = ptx("ret;", ".reg .b32 %r0, %r1; .reg .b32 %r<5>;").registers
    assert registers.names_of([2, 4]) == ["%r2", "%r4"] == [registers[2].name, registers[4].name]


def test_names_of_a_range_with_more_registers_than_statements_are_looked_up() -> None:
    registers = ptx("mov.u32 %r99, 1; ret;", ".reg .pred %p<2>; .reg .b32 %r<100>;").registers
    assert len(registers.everywhere) == 2  # `%p0`, `%p1`
    names = ["%r99", "%r0", "%r100", "%r07", "%r", "%q1", "%r1234567890123456789012"]
    assert [registers.everywhere[name] for name in names] == [(101,), (2,), (), (), (), (), ()]
    assert [registers.meaning_everywhere(name) for name in names] == [registers.everywhere[n] for n in names]
