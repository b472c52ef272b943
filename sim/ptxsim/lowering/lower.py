"""`lower`: a kernel, and the functions it reaches, become a `Program`, arrays that the compiled core runs.

Every instruction gets one record for the timing model (unit, latency, registers, access, where it goes) and a list of
micro-operations, made by the rule of its `sem` (ptxsim/lowering/). What cannot be simulated is refused here, before the
first cycle, all of it at once.

Registers of up to 32 bits take a row of the 32-bit file, 64-bit ones a row of the 64-bit file, predicates one row of
lane masks (PTXPlus: four, the flags Z, S, C, O): which, says `lowering/row_allocation.py`. The PC of an instruction
counts 8 bytes each, 4 for PTXPlus `.half`.

Not handled: clusters, and what else `lowering/refused.py` names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import ptxsim.lowering.instructions.asynchronous as _asynchronous
import ptxsim.lowering.instructions.calls as _calls
import ptxsim.lowering.instructions.control as _control
import ptxsim.lowering.instructions.convert as _convert
import ptxsim.lowering.instructions.integer as _integer
import ptxsim.lowering.instructions.matrix as _matrix
import ptxsim.lowering.instructions.small_formats as _formats
import ptxsim.lowering.instructions.textures as _textures
import ptxsim.lowering.instructions.video as _video
import ptxsim.lowering.instructions.warp as _warp
from ptxsim.base.identity_cache import IdentityCache
from ptxsim.base.options import STACK_BYTES, is_as_gpgpu_sim
from ptxsim.base.program import (
    INSTRUCTION,
    INVOKE,
    MAX_STACK,
    RETURN,
    UOP,
    Program,
)
from ptxsim.execute.codes import ASSERT, ENTRY_WORDS, FRAME_WORDS, HEADER_WORDS, MALLOC, PRINT
from ptxsim.execute.start import SHARED_HEADER
from ptxsim.lowering.builder import RULES, UopBuilder
from ptxsim.lowering.callgraph import CallGraph
from ptxsim.lowering.instructions.calls import leave_results
from ptxsim.lowering.instructions.control import code_addresses, instruction_bytes, set_control
from ptxsim.lowering.refused import reason
from ptxsim.lowering.release_marks import set_marks, set_reach
from ptxsim.lowering.row_allocation import assign_rows
from ptxsim.lowering.rows import Operation, Unsupported
from ptxsim.lowering.straight import count_straight
from ptxsim.lowering.timing_facts import set_access, set_registers, set_timing, set_unit
from ptxsim.lowering.variable_layout import AT_BEGINNING, ModuleBase, VariableLayout, lay_out
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.cfg.reconvergence import reconvergence_points
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.blocks import block_problem
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function, Instruction
from ptxtool.isa.conditions import guard_code
from ptxtool.isa.legacy import with_defaults
from ptxtool.isa.table import table
from ptxtool.isa.types import TYPES

# imported for the rules they register
_RULE_MODULES = (
    _asynchronous,
    _calls,
    _control,
    _convert,
    _formats,
    _integer,
    _matrix,
    _textures,
    _video,
    _warp,
)
MAX_ROWS = 32768


def lower(
    kernel: Function,
    gpu: Gpu,
    block: Sequence[int] = (1, 1, 1),
    ptxplus_semantics: str = "hardware",
    stack_bytes: int = STACK_BYTES,
    origin: ModuleBase = AT_BEGINNING,
    own_rows: bool = False,
) -> Program:
    """Lower a kernel for a machine and a block size. `origin` is where its module begins on the machine.

    `ptxplus_semantics` is "hardware" or "gpgpu-sim" (docs/ptxplus-semantics.md). Raises E402 if the kernel's
    `.reqntid` or `.maxntid` forbids the block, E403 with one diagnostic per distinct instruction that cannot be
    simulated, E502 for other semantics. `stack_bytes` are for recursion, and for `alloca`. `own_rows` gives every
    register a row of its own: for a run that goes on behind a bad access, whose registers keep what they held.
    """
    as_gpgpu_sim = is_as_gpgpu_sim(ptxplus_semantics)
    problem = block_problem(kernel, block)
    if problem is not None:
        raise PtxError([problem])
    options = as_gpgpu_sim, stack_bytes, origin, own_rows
    return _programs.get((kernel, gpu), options, lambda: _lower(kernel, gpu, *options))


_programs: IdentityCache[Program] = IdentityCache(32)
"""The programs lowered last: most launches repeat a kernel that was launched before."""


def _lower(
    kernel: Function, gpu: Gpu, as_gpgpu_sim: bool, stack_bytes: int, origin: ModuleBase, own_rows: bool
) -> Program:
    graph = CallGraph(kernel, stack_bytes=stack_bytes)
    layout = lay_out(kernel, graph.functions[1:], origin)
    graph.kernel_local_bytes = layout.local_bytes
    if as_gpgpu_sim and kernel.module.is_ptxplus:
        layout = _with_first_elements(layout)
    first = UopBuilder(kernel, layout, graph, as_gpgpu_sim=as_gpgpu_sim)
    first.machine = {"nwarpid": gpu.sm.warps, "nsmid": gpu.sm.count}
    builders = [first, *(first.sibling(f) for f in graph.functions[1:])]
    for builder in builders:
        assign_rows(builder, own_rows)
    if first.ptxplus and not first.as_gpgpu_sim:
        first.special_rows[SHARED_HEADER] = 0
    records = np.zeros(sum(len(f.instructions) + graph.has_end(f) for f in graph.functions), INSTRUCTION)
    problems: dict[tuple[str, str], Diagnostic] = {}
    addresses = code_addresses(kernel.module)
    for builder in builders:
        _function(builder, records, origin.code + addresses[builder.kernel.name], gpu, problems)
    if problems:
        raise PtxError(problems.values())
    if max(first.n_rows.values()) > MAX_ROWS:
        n_registers = sum(len(f.registers) for f in graph.functions)
        raise error(
            "E403",
            f"kernel '{kernel.name}' has {n_registers} registers, more than can be simulated",
            kernel.source,
            kernel.start,
            kernel.body_start,
            help="allocate its registers first",
        )
    return _program(builders, records)


def _with_first_elements(layout: VariableLayout) -> VariableLayout:
    """GPGPU-Sim: of a parameter that is an array the launch copies one element."""
    copied = [replace(p, copied_bytes=TYPES[p.type].bytes) if p.is_array else p for p in layout.parameters]
    return replace(layout, parameters=tuple(copied))


def _function(
    b: UopBuilder, records: np.ndarray, address: int, gpu: Gpu, problems: dict[tuple[str, str], Diagnostic]
) -> None:
    """Fill in the records of one function, the first at a byte address."""
    function = b.kernel
    n = len(function.instructions)
    facts = function.def_uses
    points = reconvergence_points(function)
    for i, instruction in enumerate(function.instructions):
        record = records[b.start + i]
        record["address"] = address
        address += instruction_bytes(instruction, b.ptxplus)
        record["line"] = function.line(instruction)
        record["reconverge"] = b.start + points[i] if points.get(i, n) < n else -1
        record["guard_row"] = record["target"] = -1
        record["uop_start"] = len(b.uops)
        b.position = i
        b.invoked, b.is_passing = None, False
        try:
            _instruction(b, i, instruction, record, facts[i], gpu)
        except Unsupported as problem:
            key = (instruction.opcode.text, str(problem))
            problems.setdefault(key, _diagnostic(function, instruction, str(problem)))
        record["return_end"] = len(b.uops)
        record["uop_end"] = len(b.uops) if b.invoked is None else b.return_start
        b.release_temporaries()
    set_marks(function, records[b.start : b.start + n])
    if b.graph.has_end(function):
        record = records[b.start + n]
        record["address"] = address
        record["line"] = function.source.line(function.end - 1)
        record["reconverge"] = record["guard_row"] = record["target"] = -1
        record["kind"] = RETURN
        set_unit(record, gpu.latency["branch"]["int"])
        record["uop_start"] = len(b.uops)
        b.position = n
        leave_results(b)
        record["uop_end"] = record["return_end"] = len(b.uops)
        b.release_temporaries()


def _diagnostic(kernel: Function, instruction: Instruction, reason: str) -> Diagnostic:
    return Diagnostic(
        "E403",
        f"'{instruction.opcode.text}' cannot be simulated: {reason}",
        kernel.source,
        instruction.start,
        instruction.end,
        "docs/ptxplus-semantics.md and docs/simulator.md say what can",
    )


def _instruction(
    b: UopBuilder, i: int, instruction: Instruction, record: np.void, facts: DefUse, gpu: Gpu
) -> None:
    """Fill one record and emit its micro-operations."""
    match = table().match(instruction.opcode.text, len(instruction.operands), b.ptxplus)
    if match is None:
        raise Unsupported("no such instruction form is known")
    if match.form.sem == "" or match.form.sem not in RULES:
        raise Unsupported(reason(match))
    _guard(b, instruction, record)
    match = with_defaults(match, b.kernel.module.version, "" if b.ptxplus else b.kernel.module.target)
    op = Operation(
        i, instruction, match, TYPES.get(match.type, TYPES["b32"]), TYPES.get(match.stype, TYPES["b32"])
    )
    b.access_bytes = b.element_bytes = b.space = 0
    RULES[match.form.sem](b, op)
    set_control(b, op, record)
    if b.invoked is not None:
        record["kind"], record["target"] = INVOKE, b.invoked
    record["exit_after"] = b.ptxplus and op.has("exit")
    set_access(b, op, record, gpu)
    set_timing(b, match, record, gpu)
    set_registers(b, op, record, facts, gpu)


def _guard(b: UopBuilder, instruction: Instruction, record: np.void) -> None:
    guard = instruction.guard
    if guard is None:
        return
    register = b.register(guard.name)
    if register is None or not register.is_predicate:
        raise Unsupported(f"the guard '{guard.name}' is no declared predicate")
    record["guard_row"] = b.row_of(register)[1]
    if b.ptxplus:
        code = guard_code(guard.condition, guard.negated)
        if code is None:
            raise Unsupported(f"the guard's condition '.{guard.condition}'")
        record["guard_code"] = code
    else:
        record["guard_code"] = 33 if guard.negated else 32


def _program(builders: Sequence[UopBuilder], records: np.ndarray) -> Program:
    b = builders[0]
    kernel, graph = b.kernel, b.graph
    layout = replace(
        b.layout,
        local_bytes=graph.local_bytes,
        launch_rows=b.launch_rows,
        calls=b.calls,
        stack_rows=b.shared_rows,
        frame_end=graph.frame_end,
        stack_bytes=graph.stack_bytes,
        frames={f.name: graph.frame(f) for f in graph.functions},
    )
    uops = np.zeros(max(1, len(b.uops)), UOP)
    for name, column in zip(("op", "d", "a", "b", "c", "e"), zip(*b.uops, strict=True), strict=False):
        uops[name][: len(b.uops)] = column
    count_straight(records, uops)
    set_reach(records, uops, {bits: set(rows) for bits, rows in b.free.items()})
    files = {32: 0, 64: 1, 1: 2}
    rows = [(files[file], first, count) for each in builders for file, first, count in each.register_rows]
    positions = [
        (f, i if i < len(f.instructions) else -1)
        for f in graph.functions
        for i in range(len(f.instructions) + graph.has_end(f))
    ]
    return Program(
        name=kernel.name,
        instructions=records,
        uops=uops,
        rows32=b.n_rows[32],
        rows64=b.n_rows[64],
        rows_p=b.n_rows[1],
        constants32=_constant_rows(b.constants[32], np.uint32),
        constants64=_constant_rows(b.constants[64], np.uint64),
        register_rows=np.array(rows, np.int32).reshape(-1, 3),
        special_rows=np.array(sorted(b.special_rows.items()), np.int32).reshape(-1, 2),
        n_registers=sum(len(each.registers) for each in builders),
        static_shared_bytes=layout.static_shared_bytes,
        local_bytes=layout.local_bytes,
        param_bytes=layout.param_bytes,
        prints=any(u[0] in (PRINT, ASSERT) for u in b.uops),
        allocates=any(u[0] == MALLOC for u in b.uops),
        call_words=graph.stack_words(ENTRY_WORDS * MAX_STACK + FRAME_WORDS + HEADER_WORDS),
        texts=tuple("}" if i < 0 else f.text(i) for f, i in positions),
        first_registers=tuple((each.kernel, each.first_register) for each in builders),
        positions=tuple(positions),
        register_names=tuple(name for each in builders for name in each.registers.names),
        layout=layout,
        is_ptxplus=b.ptxplus,
    )


def _constant_rows(values: Mapping[int, int], kind: type) -> np.ndarray:
    column: Any = np.array([max(value, 0) for value in values], kind).reshape(-1, 1)
    return np.ascontiguousarray(np.broadcast_to(column, (len(values), 32)))
