"""Real kernels with their registers renamed at random, and what one wrong register does to the proof.

Any name for every register holds. Then one occurrence of a register becomes another register of its class, a copy is
inserted, or a copy or constant is dropped. Walks along random paths (`path_walks`) say whether a read finds another
value: where one does, the proof must fail; where none does, it holds.
"""

import random
from collections.abc import Sequence
from functools import cache

import pytest
from checkout import TESTS
from path_walks import reads_wrong, registers_of
from renaming import rename, spread

from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse
from ptxtool.passes.regalloc.allocate import Allocate
from ptxtool.passes.regalloc.claim import AssignmentClaim
from ptxtool.validate.assignment import check_assignment

PROGRAMS = TESTS / "programs"
LARGE = ("calls.ptx", "fft.sm90.ptx", "sort.sm75.ptx", "interpreter.sm90.ptx", "softmax.sm90.ptx")
SMALL = ("mandelbrot.sm75.ptx", "histogram.sm90.ptx", "groups.sm90.ptx", "hash_table.sm90.ptx")
MUTANTS = 20


@cache
def renamed(name: str, seed: int) -> tuple[Module, Module]:
    before = parse((PROGRAMS / name).read_bytes(), name)
    return before, parse(rename(before, lambda function: spread(function, seed)))


def claims(module: Module) -> dict[str, Sequence[int]]:
    """Every instruction is what it was."""
    return {f.name: range(len(f.instructions)) for f in module.functions.values() if f.body is not None}


@pytest.mark.parametrize("name", LARGE + SMALL)
@pytest.mark.parametrize("seed", [1, 2])
def test_any_names_that_keep_registers_apart_hold(name: str, seed: int) -> None:
    before, after = renamed(name, seed)
    assert check_assignment(before, after, claims(before)) == ()


@pytest.mark.parametrize("name", SMALL)
def test_another_register_is_found_where_it_matters(name: str) -> None:
    outcomes = {agree(name, seed, *another_register(name, seed)) for seed in range(MUTANTS)}
    assert True in outcomes


@pytest.mark.parametrize("name", SMALL)
def test_a_copy_too_many_is_found_where_it_matters(name: str) -> None:
    outcomes = {agree(name, seed, *inserted_copy(name, seed)) for seed in range(MUTANTS)}
    assert outcomes == {True, False}


@pytest.mark.parametrize("name", SMALL)
def test_a_copy_or_constant_too_few_is_found(name: str) -> None:
    before, after = renamed(name, 1)
    found = 0
    for function in functions(after):
        for i, node in enumerate(function.instructions):
            if node.opcode.base != "mov" or node.guard is not None:
                continue
            text = splice(after.source.text, [TextEdit(node.start, node.end, "")])
            origins = [k for k in range(len(function.instructions)) if k != i]
            problems = check_assignment(before, parse(text), claims(before) | {function.name: origins})
            missing = any("is missing" in d.message for d in problems)
            if not missing:
                found += agree(name, i, function.name, text, origins)
    assert found


@pytest.mark.parametrize(("name", "registers"), [("histogram.sm90.ptx", 14), ("sort.sm75.ptx", 18)])
def test_mistakes_of_an_allocation_with_spills_are_found(name: str, registers: int) -> None:
    before = parse((PROGRAMS / name).read_bytes(), name)
    result = Allocate(max_regs=registers).run(before)
    text = splice(before.source.text, result.edits)
    after = parse(text)
    assert isinstance(result.claim, AssignmentClaim)
    origins = result.claim.origins
    assert check_assignment(before, after, origins) == ()
    n_found = 0
    for function in functions(after):
        claimed = origins[function.name]
        inserted = [j for j, origin in enumerate(claimed) if origin < 0]
        assert not reads_wrong(before.functions[function.name], function, claimed, 1)
        for j in random.Random(1).sample(inserted, min(6, len(inserted))):
            node = function.instructions[j]
            without = parse(splice(text, [TextEdit(node.start, node.end, "")]))
            rest = [*claimed[:j], *claimed[j + 1 :]]
            found = check_assignment(before, without, {**origins, function.name: rest})
            walked = reads_wrong(before.functions[function.name], without.functions[function.name], rest, j)
            assert found or not walked
            n_found += walked
    assert n_found


def agree(name: str, seed: int, function: str, text: str, origins: Sequence[int]) -> bool:
    """Whether a mutant fails; the proof and the walks say the same of it."""
    before, _ = renamed(name, 1)
    after = parse(text)
    fails = bool(check_assignment(before, after, claims(before) | {function: origins}))
    walked = reads_wrong(before.functions[function], after.functions[function], origins, seed)
    assert fails == walked, f"{function}: the proof says {fails}, the walks say {walked}"
    return fails


def functions(module: Module) -> list[Function]:
    return [f for f in module.functions.values() if f.body is not None]


def another_register(name: str, seed: int) -> tuple[str, str, Sequence[int]]:
    """One occurrence of a register is another one of its class."""
    _, after = renamed(name, 1)
    chance = random.Random(seed)
    while True:
        function = chance.choice(functions(after))
        i = chance.randrange(len(function.instructions))
        places = registers_of(function, function.instructions[i], i)
        if not places:
            continue
        start, end, old = chance.choice(places)
        register = function.registers.resolve(old, i)
        assert register is not None
        others = [r.name for r in function.registers if r.kind == register.kind and r.name != old]
        if others:
            text = splice(after.source.text, [TextEdit(start, end, chance.choice(others))])
            return function.name, text, range(len(function.instructions))


def inserted_copy(name: str, seed: int) -> tuple[str, str, Sequence[int]]:
    """A copy between two registers of one class, before some instruction."""
    _, after = renamed(name, 1)
    chance = random.Random(seed)
    while True:
        function = chance.choice(functions(after))
        i = chance.randrange(len(function.instructions))
        to, source = chance.choices([r for r in function.registers if not r.is_predicate], k=2)
        if to.bits != source.bits:
            continue
        start = function.instructions[i].start
        copy = f"mov.b{to.bits} {to.name}, {source.name}; "
        origins = [*range(i), -1, *range(i, len(function.instructions))]
        return function.name, splice(after.source.text, [TextEdit(start, start, copy)]), origins
