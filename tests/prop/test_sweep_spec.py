"""Whatever a sweep file says, it is read or refused at a place in it."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tinysweep import write

from ptxtool.base.diag import PtxError
from ptxtool.sweep.plan import labelled
from ptxtool.sweep.spec import read_spec

KEYS = (
    "name",
    "store",
    "kernels",
    "gpus",
    "set",
    "schedulers",
    "register-schemes",
    "share-registers",
    "share_scratchpad",
    "dynamic",
    "passes",
    "registers",
    "max_cycles",
    "ptxplus_semantics",
    "other",
)
SCALARS = st.one_of(
    st.sampled_from(
        [
            "",
            "scale.ptx",
            "saxpy",
            "lrr",
            "finereg",
            "two_level:99",
            "x.py:y",
            "tesla-c2050",
            "sm.count=7",
            "unroll-decls",
            "./k",
        ]
    ),
    st.text(max_size=6).filter(lambda text: not any(0xD800 <= ord(c) <= 0xDFFF for c in text)),
    st.integers(-5, 120),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
)
VALUES = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.sampled_from(["file", "name"]), SCALARS)
)
TABLE = st.dictionaries(
    st.sampled_from(("name", "scheduler", "share_registers", "dynamic", "kernel")), SCALARS, max_size=3
)


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value).replace("\x7f", "\\u007f")


@settings(max_examples=60)
@given(
    kernels=st.sampled_from(["", 'kernels = ["scale.ptx"]\n']),
    head=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3),
    schemes=st.lists(TABLE, max_size=2),
    excludes=st.lists(TABLE, max_size=1),
)
def test_a_sweep_file_is_read_or_refused_at_a_place(
    tmp_path_factory: Any, kernels: str, head: dict[str, Any], schemes: list[Any], excludes: list[Any]
) -> None:
    text = kernels + "".join(f"{key} = {toml(value)}\n" for key, value in head.items())
    for name, tables in (("scheme", schemes), ("exclude", excludes)):
        for table in tables:
            text += f"[[{name}]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in table.items())
    folder: Path = tmp_path_factory.getbasetemp()
    path = write(folder, text)
    try:
        spec = read_spec(path)
    except PtxError as problem:
        for diagnostic in problem.diagnostics:
            assert diagnostic.help
            assert diagnostic.source is not None
            assert str(diagnostic).startswith(f"{path}:")
    else:
        assert spec.configurations
        assert len(set(labelled(spec.configurations))) == len(spec.configurations)
