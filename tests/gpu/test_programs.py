"""The programs for a GPU: one for every row, and each is one that the driver's compiler takes."""

from functools import cache

import pytest
from gpu.body_rows import body_items
from gpu.programs import BLOCK, NOT_MADE, Program, batches, lacking, newest_target, row_items, row_name, rows
from ptxas import needs_ptxas, ptxas_errors
from walk_kernels import Item

from ptxsim import functional_run as functional
from ptxtool.isa.table import table
from ptxtool.parse import parse


def test_every_row_has_a_program() -> None:
    without = {
        row_name(form): reason for form in rows() for items, reason in [row_items(form, 1)] if not items
    }
    assert set(without.values()) == set(NOT_MADE.values())
    assert {name.partition(" ")[0].partition(".")[0] for name in without} == {
        name.partition(" ")[0].partition(".")[0] for name in NOT_MADE
    }


def test_an_item_is_an_instruction_of_its_row() -> None:
    """The instruction of which an item tells stands in it, and the table reads it as one of the row."""
    for form in rows():
        for item in row_items(form, 2)[0]:
            opcode = item.text.removeprefix("@%p ").split()[0].rstrip(";")
            assert opcode in item.body
            assert any(m.form is form for n in range(12) for m in table().matches(opcode, n, False)), (
                item.text
            )


def test_items_do_not_lack_what_the_target_has() -> None:
    """What came later, and what ended, each with the reason."""
    chosen = [f for f in rows() if f.base in ("add", "redux.sync", "vote")]
    made = [item for form in chosen for item in row_items(form, 16)[0]]
    lacks = {made[k].text.split()[0]: reason for k, reason in lacking(made, "sm_90a", "9.0").items()}
    assert {k: v for k, v in lacks.items() if k.startswith("redux")}.keys() == {
        f"redux.sync.{op}{more}.f32" for op in ("min", "max") for more in ("", ".abs", ".NaN", ".abs.NaN")
    }
    assert lacks["vote.all.pred"] == "'vote.all.pred' ended with PTX 6.3 and 'sm_62'"
    assert lacks["add.f32x2"] == "'add.f32x2' needs '.target sm_100'"
    assert "add.f32" not in lacks


@pytest.mark.parametrize(
    ("capability", "target"),
    [((7, 5), "sm_75"), ((8, 9), "sm_89"), ((9, 0), "sm_90a"), ((12, 0), "sm_120a"), ((19, 9), "sm_121")],
)
def test_targets(capability: tuple[int, int], target: str) -> None:
    assert newest_target(capability) == target


@cache
def every_item() -> list[Item]:
    return [item for form in rows() for item in row_items(form, 2)[0]] + list(body_items())


@pytest.mark.slow
def test_programs_depend_on_nothing_but_their_inputs() -> None:
    """No unwritten byte is read, no two threads race, no barrier is missed."""
    lacks = lacking(every_item(), "sm_90a", "9.0")
    left = [item for k, item in enumerate(every_item()) if k not in lacks and not item.fails]
    reported: list[str] = []
    for batch in batches(left):
        program = Program(tuple(batch), "sm_90a", "9.0")
        kernel = parse(program.text).kernels["k"]
        checks = ("memory", "init", "races", "barriers")
        reported += map(
            str, functional.run(kernel, (1,), (BLOCK,), program.arguments(), check=checks).problems
        )
    assert reported == []


@needs_ptxas
@pytest.mark.slow
@pytest.mark.parametrize("capability", [(7, 5), (9, 0), (12, 0)])
def test_ptxas_takes_every_program(capability: tuple[int, int]) -> None:
    target = newest_target(capability)
    made = every_item()
    lacks = lacking(made, target, "9.0")
    left = [item for k, item in enumerate(made) if k not in lacks]
    assert len(left) > 1200
    for batch in batches(left, 200):
        text = Program(tuple(batch), target, "9.0").text
        lines = text.splitlines()
        wrong = ptxas_errors(text, target)
        assert [f"{lines[n - 1] if n else batch[0].text}: {m}" for n, m in wrong.items()] == []
