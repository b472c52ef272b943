"""`ptxtool isa`: names of opcodes, the forms of those that are asked for, and what is not in the table."""

import pytest
from commands import clean_data
from smallkernel import Cli


def test_without_an_opcode_all_names_in_order(cli: Cli) -> None:
    names = cli("isa").stdout.splitlines()
    assert names == sorted(set(names))
    assert {"add", "bra", "ld", "wgmma"} <= set(names)
    assert [name for name in names if "." in name] == []
    assert [each["opcode"] for each in clean_data(cli, "isa")["instructions"]] == names


def test_opcodes_are_reported_in_the_order_in_which_they_are_asked_for(cli: Cli) -> None:
    shown = cli("isa", "membar", "exit").stdout
    first, second = shown.split("\n\n")
    assert first.startswith("membar")
    assert second.startswith("exit")
    found = clean_data(cli, "isa", "membar", "exit")["instructions"]
    assert [each["opcode"] for each in found] == ["membar", "exit"]


def test_the_beginning_of_an_opcode_is_less_than_its_first_word(cli: Cli) -> None:
    def forms(opcode: str) -> list[str]:
        (found,) = clean_data(cli, "isa", opcode)["instructions"]
        return [form["opcode"] for form in found["forms"]]

    bulk = forms("cp.async.bulk")
    assert len(bulk) < len(forms("cp"))
    assert all(name.startswith("cp.async.bulk") for name in bulk)


def test_an_opcode_that_is_not_there(cli: Cli) -> None:
    result = cli("isa", "add", "fmad")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E203]: unknown instruction 'fmad'" in result.stderr


@pytest.mark.parametrize("more", ["add", "--json"])
def test_the_document_is_the_whole_table(cli: Cli, more: str) -> None:
    result = cli("isa", "--markdown", more)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--markdown is the whole table" in result.stderr
