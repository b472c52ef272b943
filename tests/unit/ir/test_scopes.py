"""Names in nested blocks: which declaration is in force, during a walk and afterwards."""

from ptxtool.ir.scopes import NameHistory, Scopes


def test_an_inner_declaration_hides_an_outer_one_until_its_block_ends() -> None:
    scopes: Scopes[int] = Scopes()
    scopes.declare("x", 1)
    scopes.enter()
    assert (scopes.get("x"), scopes.here("x")) == (1, None)
    scopes.declare("x", 2)
    assert (scopes.get("x"), scopes.here("x"), scopes.depth) == (2, 2, 1)
    assert scopes.leave() == ["x"]
    assert (scopes.get("x"), scopes.here("x"), scopes.depth) == (1, 1, 0)


def test_a_second_declaration_of_a_block_replaces_the_first() -> None:
    scopes: Scopes[int] = Scopes()
    scopes.enter()
    scopes.declare("x", 1)
    scopes.declare("x", 2)
    assert scopes.get("x") == 2
    assert scopes.leave() == ["x"]
    assert "x" not in scopes


def test_only_names_in_force_are_listed() -> None:
    scopes: Scopes[int] = Scopes()
    scopes.declare("outer", 1)
    scopes.enter()
    scopes.declare("inner", 2)
    assert set(scopes) == {"outer", "inner"}
    scopes.leave()
    assert set(scopes) == {"outer"}
    assert scopes.get("inner") is None


def test_a_meaning_holds_from_its_position_to_the_next() -> None:
    history: NameHistory[str] = NameHistory()
    history.add(10, "first")
    history.add(20, "second")
    history.add(20, None)
    found = {position: history.at(position) for position in (9, 10, 19, 20, 99)}
    assert found == {9: None, 10: "first", 19: "first", 20: None, 99: None}
    assert history.positions == [10, 20]
