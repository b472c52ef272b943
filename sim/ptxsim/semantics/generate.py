"""The lane operations as compiled functions, generated from `ptxtool/isa/lanes.toml`.

One function per group of the table, in one Python module per group that is written to the cache folder (named by a
hash of all sources, so it is never out of date) and imported from there: numba caches modules on disk well. A
function is an if-chain over the group's operation numbers, which LLVM makes a jump table, with the loop over the
lanes inside, which it vectorises:

    if op == 7:
        for n in range(32):
            a = np.int64(u32[ra, n])
            b = np.int64(u32[rb, n])
            u32[rd, n] = (a + b) if mask & BIT[n] else u32[rd, n]

Every lane is computed and the results of lanes outside the mask are dropped: no expression may fail.
"""

import ast
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ptxsim.jit import JIT_DISABLED, cache_dir
from ptxtool.isa.lanes import LaneOperation, operations

_VIEWS = {"u32": "u32", "i32": "i32", "f32": "f32", "u64": "u64", "i64": "i64", "f64": "f64"}
_ADDRESS = {"32": ("x.r32", "x.total_rows32"), "64": ("x.r64", "x.total_rows64")}
_OPERAND_FIELDS = ("a", "b", "c", "e")  # where the rows of the operands stand in a micro-operation
_NAMES = ("a", "b", "c", "d")  # what expressions call them

_HEADER = '''"""Generated from lanes.toml: group {group}."""

import numpy as np
from ptxsim.jit import array_of, njit, record_type, rows_f32, rows_f64, rows_i32, rows_i64, rows_u32, rows_u64, flat_u32
from ptxsim.program import CONTEXT, UOP
from ptxsim.semantics.arithmetic import *
from ptxsim.semantics.arithmetic import SIGN64
from numba import types

BIT = np.array([1 << n for n in range(32)], np.uint32)


@njit(types.void(record_type(CONTEXT), record_type(UOP), types.int64))
def {name}(x, u, lanes):
    op = u.op
    e = np.int64(u.e)
    mask = np.uint32(lanes)
    base32 = x.constant_rows32 + x.warp * x.rows32
    base64 = x.constant_rows64 + x.warp * x.rows64
'''


def _row(field: str, bits: str) -> str:
    return f"select(u.{field} >= 0, u.{field} + base{bits}, -1 - u.{field})"


class _Branchless(ast.NodeTransformer):
    """`a if c else b` as `select(c, a, b)`, `and` and `or` of conditions as `&` and `|`; operand names get a suffix."""

    def __init__(self, suffix: str):
        self.suffix = suffix

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

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(node.id + self.suffix, ast.Load()) if node.id in _NAMES else node


def _expression(operation: LaneOperation) -> str:
    tree = _Branchless(str(operation.number)).visit(ast.parse(operation.expression, mode="eval"))
    return ast.unparse(ast.fix_missing_locations(tree))


def _operation(operation: LaneOperation, first: bool) -> list[str]:
    """The branch of one operation. Its variables have names of their own: numba's SSA form costs time otherwise."""
    k = operation.number
    lines = [f"    {'if' if first else 'elif'} op == {k}:  # {operation.name}"]
    body: list[str] = []
    for field, name, kind in zip(_OPERAND_FIELDS, _NAMES, operation.operands, strict=False):
        if kind == "p":
            lines.append(f"        p{name}{k} = lane_mask(x, u.{field})")
            body.append(f"            {name}{k} = (p{name}{k} & BIT[n{k}]) != 0")
            continue
        lines.append(f"        r{name}{k} = {_row(field, kind[1:])}")
        read = f"{kind}[r{name}{k}, n{k}]"
        body.append(f"            {name}{k} = {f'np.int64({read})' if kind in ('u32', 'i32') else read}")
    expression = _expression(operation)
    if operation.is_predicate:
        return [
            *lines,
            f"        found{k} = np.uint32(0)",
            f"        for n{k} in range(32):",
            *body,
            f"            found{k} |= select({expression}, BIT[n{k}], np.uint32(0))",
            f"        set_lanes(x, u, found{k}, mask)",
        ]
    view = "u32" if operation.result in ("u32", "i32") else operation.result
    old = f"{view}[to{k}, n{k}]"
    return [
        *lines,
        f"        to{k} = u.d + base{operation.result[1:]}",
        f"        for n{k} in range(32):",
        *body,
        f"            v{k} = {f'np.int64({expression})' if view == 'u32' else expression}",
        f"            {old} = select((mask & BIT[n{k}]) != 0, v{k}, {f'np.int64({old})' if view == 'u32' else old})",
    ]


_LANE_MASK = '''
@njit(types.uint32(record_type(CONTEXT), types.int64))
def lane_mask(x, row):
    """A predicate row of the executing warp; -1 is all false, -2 all true."""
    if row < 0:
        return np.uint32(0) if row == -1 else np.uint32(0xFFFFFFFF)
    return flat_u32(x.predicates, x.total_rows_p)[x.warp * x.rows_p + row]


@njit(types.void(record_type(CONTEXT), record_type(UOP), types.uint32, types.uint32))
def set_lanes(x, u, found, mask):
    """Write a predicate result, inverted where bit 0 of e says so."""
    if u.e & 1:
        found ^= np.uint32(0xFFFFFFFF)
    predicates = flat_u32(x.predicates, x.total_rows_p)
    row = x.warp * x.rows_p + u.d
    predicates[row] = (predicates[row] & ~mask) | (found & mask)

'''


def source(group: str) -> str:
    """The Python source of a group's module."""
    members = [o for o in operations().values() if o.group == group]
    kinds = {k for o in members for k in (o.result, *o.operands)} - {"p"}
    kinds |= {"u32"} if any(o.result == "i32" for o in members) else set()
    header = _HEADER.format(group=group, name=f"lanes_{group}")
    before, _, after = header.partition("\n\n@njit")
    text = before + "\n" + _LANE_MASK + "\n@njit" + after
    for kind in sorted(kinds):
        address, rows = _ADDRESS[kind[1:]]
        text += f"    {kind} = rows_{kind}({address}, {rows})\n"
    lines: list[str] = []
    for i, operation in enumerate(members):
        lines += _operation(operation, i == 0)
    return text + "\n".join(lines) + "\n"


def groups() -> tuple[str, ...]:
    """The groups in the order of the table."""
    return tuple(dict.fromkeys(o.group for o in operations().values()))


def module(name: str, text: str) -> ModuleType:
    """A generated module, written to the cache folder where it is not there yet, and imported."""
    full_name = f"ptxsim.generated_{name}"
    if full_name in sys.modules:
        return sys.modules[full_name]
    path: Path = cache_dir() / f"generated_{name}{'_python' if JIT_DISABLED else ''}.py"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)  # whole or not at all, whoever else writes it
    specification = importlib.util.spec_from_file_location(full_name, path)
    assert specification is not None
    assert specification.loader is not None
    made = importlib.util.module_from_spec(specification)
    sys.modules[full_name] = made
    specification.loader.exec_module(made)
    return made


def lane_function(group: str) -> Any:
    """The function `(x, uop, mask)` that executes the operations of a group."""
    return getattr(module(f"lanes_{group}", source(group)), f"lanes_{group}")
