"""The lane operations as compiled functions, generated from `ptxtool/isa/lanes.toml`.

One function per group of the table, in one Python module per group that is written to a folder (named by what its text
depends on, so it is never out of date) and imported from there: numba caches modules on disk well. A function is an
if-chain over the group's operation numbers, which LLVM makes a jump table, with the loop over the lanes inside, which
it vectorises:

    if op == 7:
        for n in range(32):
            left = np.int64(load_u32(own32, all32, a, n))
            store_u32(to32, n, left + np.int64(load_u32(own32, all32, b, n)))

All 32 lanes are computed, so no expression may fail. If lanes are masked, the result goes to the last row of the file
first, a scratch row, and those in the mask are copied from there. Code that the branches share stands before or
after them: numba's compile time grows with the number of statements.
"""

import ast
import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ptxsim.base.code_cache import folder_of_text
from ptxsim.base.jit import JIT_DISABLED
from ptxtool.isa.lanes import LaneOperation, operations, table_text

_OPERAND_FIELDS = ("a", "b", "c", "e")  # where the rows of the operands stand in a micro-operation
_NAMES = ("a", "b", "c", "d")  # what expressions call them

_HEADER = '''"""Generated from lanes.toml: group {group}."""

import numpy as np
from ptxsim.base.jit import njit, record_type, types
from ptxsim.base.program import CONTEXT, UOP
from ptxsim.execute.arithmetic import *
from ptxsim.execute.arithmetic import SIGN64
from ptxsim.execute.row_elements import *
from ptxsim.execute.small_floats import double_to_format, format_to_double
from ptxsim.execute.lanes import BIT, copy32, copy64, lane_mask, set_lanes


@njit(types.void(record_type(CONTEXT), record_type(UOP), types.int64))
def lanes_{group}(context, uop, lanes):
    op = uop.op
    a, b, c, e = np.int64(uop.a), np.int64(uop.b), np.int64(uop.c), np.int64(uop.e)
    all_lanes = lanes == 0xFFFFFFFF
    kind = 0
    found = np.uint32(0)
'''


class _Reads(ast.NodeTransformer):
    """Operand names as what they read."""

    def __init__(self, reads: dict[str, str]):
        self.reads = reads

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.parse(self.reads[node.id], mode="eval").body if node.id in self.reads else node


class _Branchless(ast.NodeTransformer):
    """`a if c else b` as `select(c, a, b)`, `and` and `or` of conditions as `&` and `|`."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("select", ast.Load()), [node.test, node.body, node.orelse], [])

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        operator = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
        result = node.values[0]
        for value in node.values[1:]:
            result = ast.BinOp(result, operator, value)
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.Call(
                ast.Name("select", ast.Load()), [node.operand, ast.Constant(False), ast.Constant(True)], []
            )
        return node


def _operation(operation: LaneOperation, first: bool) -> list[str]:
    """The branch of one operation. What is used more than once has a name of its own: SSA form costs numba time."""
    k = operation.number
    lines = [f"    {'if' if first else 'elif'} op == {k}:  # {operation.name}"]
    loop = [f"        for n{k} in range(32):"]
    tree = _Branchless().visit(ast.parse(operation.expression, mode="eval"))
    used = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    reads: dict[str, str] = {}
    for field, name, kind in zip(_OPERAND_FIELDS, _NAMES, operation.operands, strict=False):
        if kind == "p":
            lines.append(f"        p{name}{k} = lane_mask(context, {field})")
            read = f"((p{name}{k} & BIT[n{k}]) != 0)"
        else:
            read = f"load_{kind}(own{kind[1:]}, all{kind[1:]}, {field}, n{k})"
            read = f"np.int64({read})" if kind in ("u32", "i32") else read
        if used.count(name) > 1:
            loop.append(f"            {name}{k} = {read}")
            read = f"{name}{k}"
        reads[name] = read
    expression = ast.unparse(ast.fix_missing_locations(_Reads(reads).visit(tree)))
    if operation.is_predicate:
        loop.append(f"            found{k} |= select({expression}, BIT[n{k}], np.uint32(0))")
        lines.append(f"        found{k} = np.uint32(0)")
        return [*lines, *loop, f"        found = found{k}", "        kind = 1"]
    bits = operation.result[1:]
    view = "u32" if operation.result in ("u32", "i32") else operation.result
    if view == "u32":
        expression = f"np.int64({expression})"
    loop.append(f"            store_{view}(to{bits}, n{k}, {expression})")
    return [*lines, *loop, f"        kind = {bits}"]


def source(group: str) -> str:
    """The Python source of a group's module."""
    members = [o for o in operations().values() if o.group == group]
    results = {o.result for o in members}
    kinds = {k for o in members for k in (o.result, *o.operands)} - {"p"}
    text = _HEADER.format(group=group)
    for bits in sorted({kind[1:] for kind in kinds}):
        text += f"    own{bits}, all{bits} = context.own{bits}, context.r{bits}\n"
        to = f"own{bits} + np.uint64(np.int64(uop.d) * {4 * int(bits)})"
        text += f"    to{bits} = select(all_lanes, {to}, context.scratch{bits})\n"
    lines: list[str] = []
    for i, operation in enumerate(members):
        lines += _operation(operation, i == 0)
    if "p" in results:
        lines += ["    if kind == 1:", "        set_lanes(context, uop, found, np.uint32(lanes))"]
    for bits in sorted({result[1:] for result in results} - {""}):
        lines += [
            f"    if kind == {bits} and not all_lanes:",
            f"        copy{bits}(context, uop, np.uint32(lanes))",
        ]
    return text + "\n".join(lines) + "\n"


_importing = threading.RLock()


def groups() -> tuple[str, ...]:
    """The groups in the order of the table."""
    return tuple(dict.fromkeys(o.group for o in operations().values()))


def module(name: str, inputs: str, source: Callable[[], str]) -> ModuleType:
    """A generated module, written to the cache folder where it is not there yet, and imported, once for all threads.

    inputs: all that its text depends on, with its imports."""
    full_name = f"ptxsim.generated_{name}"
    with _importing:
        if full_name in sys.modules:
            return sys.modules[full_name]
        path: Path = folder_of_text(inputs) / f"generated_{name}{'_python' if JIT_DISABLED else ''}.py"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(f".{os.getpid()}")
            temporary.write_text(source(), encoding="utf-8")
            temporary.replace(path)  # atomically: other processes may write it too
        specification = importlib.util.spec_from_file_location(full_name, path)
        assert specification is not None
        assert specification.loader is not None
        made = importlib.util.module_from_spec(specification)
        sys.modules[full_name] = made
        try:
            specification.loader.exec_module(made)
        except BaseException:  # an interrupt, too, must not leave half a module
            del sys.modules[full_name]
            raise
        return made


def lane_function(group: str) -> Any:
    """The function `(context, uop, mask)` that executes the operations of a group."""
    inputs = f"{Path(__file__).read_text(encoding='utf-8')}{_HEADER}{table_text()}"
    return getattr(module(f"lanes_{group}", inputs, lambda: source(group)), f"lanes_{group}")
