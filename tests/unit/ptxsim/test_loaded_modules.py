"""Modules on a machine: parameter layouts, and variables by name and address."""

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

HEAD = ".version 6.0\n.target sm_35\n.address_size 64\n"
TEXT = f"""{HEAD}
.global .align 4 .u32 counter = 5;
.const .align 4 .u32 limits[4] = {{7, 8}};
.global .align 8 .u64 where = limit_of;
.visible .entry read(.param .u64 .ptr .global .align 16 out, .param .u8 which, .param .align 8 .b8 pair[12])
{{
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [out];
	ld.param.u8 %r1, [which];
	mul.wide.u32 %d2, %r1, 4;
	mov.u64 %d3, limits;
	add.u64 %d3, %d3, %d2;
	ld.const.u32 %r2, [%d3];
	atom.global.add.u32 %r3, [counter], 1;
	ld.param.u32 %r4, [pair+8];
	st.global.v4.u32 [%d1], {{%r1, %r2, %r3, %r4}};
	ret;
}}
""".replace(".global .align 8 .u64 where = limit_of;\n", "")


def test_parameters_have_offsets_sizes_and_alignments() -> None:
    kernel = ptxsim.Machine(memory=1 << 20).load(TEXT).kernels["read"]
    places = [(p.name, p.offset, p.n_bytes, p.align, p.type) for p in kernel.parameters]
    assert places == [("out", 0, 8, 8, "u64"), ("which", 8, 1, 1, "u8"), ("pair", 16, 12, 8, "b8")]
    assert kernel.parameter_bytes == 28


def test_variables_keep_what_was_written_and_kernels_see_it() -> None:
    machine = ptxsim.Machine(memory=1 << 20)
    module = machine.load(TEXT, "first.ptx")
    out = machine.heap.malloc(16)
    raw = np.zeros(
        1, np.dtype({"names": ["o", "w", "p"], "formats": ["u8", "u1", "12u1"], "offsets": [0, 8, 16]})
    )
    raw["o"], raw["w"], raw["p"][0, 8] = out, 1, 42

    def run() -> list[int]:
        machine.run(module.kernels["read"], 1, 1, parameters=raw.tobytes())
        return machine.heap.view(out, 16).view(np.uint32).tolist()

    assert run() == [1, 8, 5, 42]
    module.write("limits", np.uint32(9), 4)
    module.write("counter", np.uint32(100))
    assert run() == [1, 9, 100, 42]
    assert module.read("counter") == (101).to_bytes(4, "little")
    assert module.read("limits", 8) == (7).to_bytes(4, "little") + (9).to_bytes(4, "little")
    address, size = module.symbols["limits"]
    assert size == 16
    machine.heap.memory[address + 4 - 0x1000_0000] = 77  # as a copy to the constant's address does
    assert run() == [1, 77, 101, 42]


def test_modules_have_variables_of_their_own() -> None:
    machine = ptxsim.Machine(memory=1 << 20)
    first, second = machine.load(TEXT, "one"), machine.load(TEXT, "two")
    second.write("counter", np.uint32(50))
    assert first.read("counter") == (5).to_bytes(4, "little")
    assert len({first.symbols["counter"][0], second.symbols["counter"][0], first.symbols["limits"][0]}) == 3
    out = machine.heap.malloc(16)
    for module, counter in ((first, 5), (second, 50), (first, 6)):
        machine.run(module.kernels["read"], 1, 1, [out, 0, bytes(12)])
        assert machine.heap.view(out, 16).view(np.uint32)[2] == counter


def test_a_module_is_loaded_once() -> None:
    machine, module = ptxsim.Machine(memory=1 << 20), parse(TEXT)
    assert machine.load(module).symbols == machine.load(module).symbols


def test_a_module_that_was_launched_before_keeps_its_constants() -> None:
    machine, parsed, out = ptxsim.Machine(), parse(TEXT), np.zeros(4, np.uint32)
    machine.run(
        parsed.kernels["read"], 1, 1, [out, 1, bytes(12)], constants={"limits": np.array([1, 2], np.uint32)}
    )
    module = machine.load(parsed)
    assert module.read("limits", 8) == np.array([1, 2], np.uint32).tobytes()
    module.write("limits", np.array([3, 4], np.uint32))
    assert module.read("counter") == (6).to_bytes(4, "little")
    machine.run(parsed.kernels["read"], 1, 1, [out, 1, bytes(12)])
    assert out.tolist() == [1, 4, 6, 0]


def test_a_module_without_kernels_has_variables() -> None:
    module = ptxsim.Machine(memory=1 << 20).load(HEAD + ".global .u32 x = 3;\n.const .u32 y = 4;\n")
    assert [module.read(name)[0] for name in ("x", "y")] == [3, 4]


def test_what_is_not_of_the_module_is_refused() -> None:
    machine = ptxsim.Machine(memory=1 << 20)
    module = machine.load(TEXT, "one")
    for wrong, message in (
        (lambda: module.read("countr"), r"no module variable named 'countr' in 'one'"),
        (lambda: module.read("counter", 5), r"5 bytes from byte 0 of variable 'counter', which has 4"),
        (
            lambda: module.write("limits", np.zeros(4, np.uint32), 4),
            r"16 bytes from byte 4 of variable 'limits'",
        ),
        (lambda: module.read("limits", offset=17), r"-1 bytes from byte 17"),
        (lambda: module.write("counter", 5), r"data is int"),
        (lambda: module.write("limits", np.zeros((4, 2), np.uint32)[:, 0]), r"data is ndarray"),
        (lambda: machine.load(3), r"module is of type int"),
        (
            lambda: machine.load(HEAD + ".extern .global .u32 far;\n"),
            r"variable 'far' is defined in another module",
        ),
        (
            lambda: ptxsim.Machine().run(module.kernels["read"], 1, 1),
            r"kernel 'read' is loaded on another machine",
        ),
    ):
        with pytest.raises(PtxError, match=f"E401.*{message}"):
            wrong()


def test_another_text_of_a_module_has_its_variables() -> None:
    machine = ptxsim.Machine(memory=1 << 20)
    module, other = machine.load(TEXT, "first.ptx"), machine.load(TEXT.replace("read", "third"), "third.ptx")
    module.write("limits", np.uint32(9), 4)
    again = machine.load(TEXT.replace("%r3, [counter], 1", "%r3, [counter], 10"), "again.ptx", like=module)
    blocks = machine.heap.blocks()
    assert again.symbols == module.symbols != other.symbols
    out = machine.heap.malloc(16)
    raw = np.zeros(
        1, np.dtype({"names": ["o", "w", "p"], "formats": ["u8", "u1", "12u1"], "offsets": [0, 8, 16]})
    )
    raw["o"], raw["w"] = out, 1
    seen = []
    for each in (again, module, again):
        machine.run(each.kernels["read"], 1, 1, parameters=raw.tobytes())
        seen.append(machine.heap.view(out, 16).view(np.uint32).tolist()[1:3])
    assert seen == [[9, 5], [9, 15], [9, 16]]
    codes = [each.origin.code for each in (module, other, again)]
    assert codes == sorted(set(codes))
    assert blocks == machine.heap.blocks()[: len(blocks)]
    with pytest.raises(PtxError, match=r"'less\.ptx' has other variables than 'first\.ptx'"):
        machine.load(TEXT.replace("limits[4]", "limits[2]"), "less.ptx", like=module)
