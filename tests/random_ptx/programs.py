"""Random PTX programs whose results depend on nothing but their inputs: for passes that must not change what runs.

`write(random)` makes a module of one kernel `k` and the device functions it calls. Registers are redefined, swapped,
hidden by nested scopes, live across loops and calls, defined under guards; widths are mixed; every read finds a value.
`launch(module, run)` runs it and returns what it leaves in memory.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from random_ptx.statements import PLAIN, Body, Signature, Style

from ptxtool.ir.nodes import Module

THREADS = 64
_SLOT_BYTES = 512
_RESULT_TYPES = ("b32", "b64", "f32")


def write(random: random.Random, style: Style = PLAIN) -> str:
    """The text of a program: the same state of `random`, the same text."""
    functions: list[Signature] = []
    bodies: list[str] = []
    without_abi = (
        random.random() < 0.35
    )  # ptxas: with register parameters anywhere, no recursion, no pointers
    for number in range(random.choice((0, 0, 1, 2, 3))):
        in_registers = without_abi and random.random() < 0.7
        signature = Signature(
            f"f{number}",
            ("b32", *random.choices(_RESULT_TYPES, k=random.randint(1, 3))),
            tuple(random.choices(_RESULT_TYPES, k=random.randint(1, 2) if in_registers else 1)),
            in_registers,
            not without_abi and not style.lowerable,
            not without_abi and not style.lowerable and random.random() < 0.5,
        )
        bodies.append(_function(random, signature, functions, style))
        functions.append(signature)
    return "\n".join(
        [
            ".version 8.3\n.target sm_80\n.address_size 64",
            f".global .align 16 .b32 data[64] = {{{', '.join(str(v) for v in _words(random, 64))}}};",
            ".global .align 8 .b8 bins[128];",
            *bodies,
            _kernel(random, functions, style),
        ]
    )


def _words(random: random.Random, n: int) -> list[int]:
    return [random.choice((random.getrandbits(32), random.randrange(50), 0x3F800000)) for _ in range(n)]


def _function(random: random.Random, signature: Signature, callees: list[Signature], style: Style) -> str:
    body = Body(random, f"{signature.name.upper()}_", callees, is_kernel=False, style=style)
    regs = body.regs
    space = "reg" if signature.in_registers else "param"
    own = f"v{signature.name}_"
    names = [f"{own}{k}" for k in range(len(signature.params))]
    results = [f"{own}r{k}" for k in range(len(signature.results))]
    head = ", ".join(f".{space} .{t} {n}" for t, n in zip(signature.params, names, strict=True))
    given = ", ".join(f".{space} .{t} {n}" for t, n in zip(signature.results, results, strict=True))
    _zero_local(body)
    if signature.in_registers:
        fuel = names[0]
        regs.locked.add(fuel)
        for type_, name in zip(signature.params, names, strict=True):
            regs.give(type_, name)
        for type_, name in zip(signature.results, results, strict=True):
            body.emit(f"mov.{type_} {name}, {body.read(type_)};")
            regs.give(type_, name)
        body.leave = "ret;"
    else:
        fuel = regs.fresh("b32")
        regs.locked.add(fuel)
        for type_, name in zip(signature.params, names, strict=True):
            to = fuel if name == names[0] else body.into(type_)
            body.emit(f"ld.param.{type_} {to}, [{name}];")
        regs.defined.add(fuel)
        body.emit(f"st.param.{signature.results[0]} [{results[0]}], {body.read(signature.results[0])};")
        body.leave = "ret;"
    body.statements(random.randint(2, 8), 2)
    if signature.is_recursive:
        _call_itself(body, signature, fuel)
        body.statements(random.randint(1, 3), 1)
    for type_, name in zip(signature.results, results, strict=True):
        value = body.read(type_)
        body.emit(
            f"mov.{type_} {name}, {value};"
            if signature.in_registers
            else f"st.param.{type_} [{name}], {value};"
        )
    text = "\n".join(["{", *regs.declarations(), ".local .align 16 .b8 mine[64];", *body.lines, "ret;\n}"])
    return f".func ({given}) {signature.name}({head})\n{text}"


def _call_itself(body: Body, signature: Signature, fuel: str) -> None:
    """As often as there is fuel."""
    regs = body.regs
    go, less, past = regs.fresh("pred"), regs.fresh("b32"), body.label()
    body.emit(f"setp.eq.u32 {go}, {fuel}, 0;\nsub.u32 {less}, {fuel}, 1;\n@{go} bra {past};")
    before = set(regs.defined)
    regs.locked.add(less)
    body.call_of(signature, less)
    regs.defined &= before
    body.emit(f"{past}:")


def _zero_local(body: Body) -> None:
    word = body.into("b32")
    body.emit(f"mov.u32 {word}, {body.random.randrange(1 << 32)};")
    for k in range(0, 64, 16):
        body.emit(f"st.local.v4.b32 [mine+{k}], {{{word}, {word}, {word}, {word}}};")


def _kernel(random: random.Random, callees: list[Signature], style: Style) -> str:
    body = Body(random, "L", callees, is_kernel=True, style=style)
    regs = body.regs
    out = body.out = regs.fresh("b64")
    regs.locked.add(out)
    base, tid = regs.temporary("b64", {out}), body.into("b32")
    _zero_local(body)
    body.emit(f"mov.u32 {tid}, %tid.x;\nld.param.u64 {base}, [out];")
    body.emit(f"mad.wide.u32 {out}, {tid}, {_SLOT_BYTES}, {base};")
    regs.locked.add(tid)
    address = regs.temporary("b64", {out})
    for type_ in ("b32", "b32", "b64", "f32"):
        body.emit(f"ld.param.u64 {address}, [in];\nmad.wide.u32 {address}, {tid}, 8, {address};")
        body.emit(f"ld.global.{type_} {body.into(type_)}, [{address}+{random.randrange(0, 512, 8)}];")
        regs.defined.discard(address)
    regs.locked.discard(tid)
    body.statements(random.randint(4, 30), 3)
    _results(body)
    return "\n".join(
        [
            ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n0, .param .u32 n1, .param .u64 n2,",
            ".param .f32 n3)\n{",
            *regs.declarations(),
            ".local .align 16 .b8 mine[64];\n.shared .align 16 .b8 tile[512];",
            *body.lines,
            "ret;\n}",
        ]
    )


def _results(body: Body) -> None:
    """Most of what is defined goes to memory, in any order."""
    regs = body.regs
    known = [(t, n) for t in regs.names for n in regs.readable(t)]
    body.random.shuffle(known)
    word = ""
    for k, (type_, name) in enumerate(known[: body.random.randint(1, 40)]):
        if type_ == "pred":
            word = word or regs.fresh("b32")
            body.emit(f"selp.u32 {word}, 5, 3, {name};")
            type_, name = "b32", word
        body.emit(f"st.global.{type_} [{body.out}+{128 + 8 * k}], {name};")


def launch(module: Module, run: Callable[..., Any], **more: Any) -> tuple[bytes, Any]:
    """The results of all threads as bytes, and what the run returns."""
    source = np.random.default_rng(1).integers(0, 1 << 32, 2 * THREADS + 256, dtype=np.uint32)
    out = np.zeros(THREADS * _SLOT_BYTES, np.uint8)
    arguments = [out, source, 7, 0xFFFF1234, 1 << 40 | 99, 2.5]
    result = run(module.kernels["k"], (1,), (THREADS,), arguments, **more)
    return out.tobytes(), result
