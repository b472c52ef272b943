"""What is made when it is asked for: once, and from parts that are made then."""

from typing import Any

from ptxsim.base.later import Expression, Later, now


def test_it_is_made_once() -> None:
    made: list[int] = []
    later = Later(lambda: made.append(1) or len(made))  # type: ignore[func-returns-value]
    assert made == []
    assert (now(later), now(later), now(7)) == (1, 1, 7)
    assert made == [1]


def test_attributes_and_calls_of_what_is_to_be() -> None:
    asked: list[str] = []

    class Types:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return lambda *arguments: (name, arguments)

    types: Any = Expression(Types, "types")
    signature = types.void(types.int64(), 3)
    assert asked == []
    assert now(signature) == ("void", (("int64", ()), 3))
    assert asked == ["void", "int64"]
    assert str(signature) == "types.void(types.int64(), 3)"
    assert not hasattr(types, "_typing")  # which libraries ask for
