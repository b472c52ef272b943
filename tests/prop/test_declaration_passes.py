"""The declaration passes on real files and on made-up ones: idempotent, proved, and in the order they promise."""

from pathlib import Path

import pytest
from conftest import corpus_files
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxtool.analysis.sharing.first_use import first_use
from ptxtool.ir.nodes import Module, ScopeOpen
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite
from ptxtool.validate.declarations import check_only_declarations_changed

PIPELINE = "unroll-decls,reorder-decls{{order={order}}}"


def check_pipeline(module: Module, order: str) -> Module:
    pipeline = PIPELINE.format(order=order)
    after = rewrite(module, pipeline).module
    assert rewrite(after, pipeline).module is after, "not idempotent"
    assert check_only_declarations_changed(module, after) == ()
    return after


@pytest.mark.parametrize("order", ["text", "cfg"])
@pytest.mark.parametrize("path", corpus_files(), ids=lambda p: p.name)
def test_corpus(path: Path, order: str) -> None:
    module = parse(path.read_bytes(), path.name)
    after = check_pipeline(module, order)
    for name, kernel in after.kernels.items():
        assert len(kernel.registers) == len(module.kernels[name].registers)
        if not any(isinstance(statement, ScopeOpen) for statement in kernel.body or ()):
            uses = first_use(kernel, order=order)  # type: ignore[arg-type]
            assert [use.before for use in uses] == [use.after for use in uses]


@st.composite
def kernels(draw: st.DrawFn) -> str:
    """A kernel of 32-bit registers declared singly, in ranges and in lists, with comments, and straight-line code."""
    n = draw(st.integers(1, 12))
    lines: list[str] = []
    names: list[str] = []
    while len(names) < n:
        form = draw(st.sampled_from(["one", "range", "list"]))
        k = len(names)
        if form == "range":
            count = draw(st.integers(1, 5))
            lines.append(f".reg .b32 %r{k}_<{count}>;")
            names += [f"%r{k}_{i}" for i in range(count)]
        else:
            new = [f"%v{k}_{i}x" for i in range(1 if form == "one" else draw(st.integers(2, 4)))]
            gap = draw(st.sampled_from([", ", ",", ",\n\t\t", " /* , */ , ", ", // ;\n\t"]))
            lines.append(f".reg .b32 {gap.join(new)};")
            names += new
        lines[-1] += draw(st.sampled_from(["", " // comment", " /* comment */"]))
    registers = st.sampled_from(names)
    code = draw(st.lists(st.tuples(registers, registers, registers), max_size=10))
    lines += [f"add.s32 {a}, {b}, {c};" for a, b, c in code]
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    body = "".join(f"\t{line}\n" for line in [*lines, "exit;"])
    return f".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{{\n{body}}}\n".replace("\n", newline)


@settings(deadline=None, max_examples=60)
@given(kernels(), st.sampled_from(["text", "cfg"]))
def test_made_up_kernels(text: str, order: str) -> None:
    module = parse(text)
    after = check_pipeline(module, order)
    before_names = [r.name for r in module.kernels["k"].registers]
    names = [r.name for r in after.kernels["k"].registers]
    # straight-line code: sort by the first instruction that names the register, and by its place there
    words = [
        w
        for line in text.splitlines()
        if "add" in line
        for w in line.replace(",", " ").replace(";", " ").split()
    ]
    used = list(dict.fromkeys(w for w in words if w in before_names))
    assert names == used + [name for name in before_names if name not in used]
    # everything but the declarations is the same, byte for byte
    code = [line for line in text.splitlines() if ".reg" not in line and "%v" not in line.split("add")[0]]
    assert code == [line for line in after.source.text.splitlines() if ".reg" not in line]
    assert ("\r\n" in after.source.text) == ("\r\n" in text)
    assert "\n" not in after.source.text.replace("\r\n", "") or "\r\n" not in text
