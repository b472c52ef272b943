"""Which files the version of the simulator is made of."""

from ptxtool.sweep import version


def test_the_version_is_of_all_that_makes_a_result() -> None:
    names = {path.name for _, path in version._files()}
    assert {"cycle.py", "launcher.py", "lanes.toml", "ptx.lark", "launch_values.py", "task.py"} <= names
    assert not {"reorder_decls.py", "comparison.py", "ladder.py"} & names
    assert len(version.simulator_version()) == 20


def test_names_do_not_depend_on_where_the_files_lie() -> None:
    for root, path in version._files():
        assert path.is_relative_to(root)
        assert path.suffix in (".py", ".toml", ".lark")
