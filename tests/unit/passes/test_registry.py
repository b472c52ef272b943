"""The passes by name, present and former, and their options as their fields say them."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import pytest

from ptxtool.ir.nodes import Module
from ptxtool.passes.base import PassResult, Shown
from ptxtool.passes.registry import Option, find_pass, pass_info, pass_infos
from ptxtool.passes.sharing.split_tail_ranges import SplitTailRanges


@dataclass(frozen=True)
class Made:
    """Do nothing much.

    In several lines.
    """

    order: Literal["text", "cfg"] = "text"
    max_regs: int = 4
    keeps: bool = False
    share: Annotated[str, Shown("P", "required")] = ""
    name: ClassVar[str] = "made"

    def run(self, module: Module) -> PassResult:
        raise NotImplementedError


def test_options_of_every_kind() -> None:
    info = pass_info(Made)
    assert (info.name, info.summary) == ("made", "Do nothing much.")
    assert [str(option) for option in info.options] == [
        "order=text|cfg (default text)",
        "max-regs=N (default 4)",
        "keeps=true|false (default false)",
        "share=P (required)",
    ]
    assert info.options[0] == Option("order", "choice", ("text", "cfg"), "text")
    assert [option.kind for option in info.options[1:]] == ["number", "switch", "text"]


@pytest.mark.parametrize("name", ["settle-tail", "split-tail-ranges"])
def test_a_former_name_still_finds_its_pass_but_is_listed_nowhere(name: str) -> None:
    assert find_pass(name) is SplitTailRanges
    assert [info.name for info in pass_infos()].count("settle-tail") == 0


def test_no_pass_of_that_name() -> None:
    assert find_pass("split_tail_ranges") is None
