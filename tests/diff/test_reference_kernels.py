"""Kernels compiled by nvcc leave the memory that a C++ program computed for them (sha256 of the outputs)."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.interpreter import run_reference
from scripts import module_of

from ptxtool.ir.nodes import Module
from ptxtool.parse import parse

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "u32": np.uint32, "u8": np.uint8}

QUICK = ("fma_chain_w1", "fma_ilp_w1", "pointer_chase_w1", "fma_chain_w2", "fma_ilp_w4")
SLOW = ("nw_diag", "scan", "spmv_csr", "divergent_switch", "conv_rows")


def load(folder: Path) -> tuple[Any, dict[str, Any]]:
    launches = json.loads((folder / "launches.json").read_text())["launches"]
    return module_of(folder / "inputs.py"), {entry["id"]: entry for entry in launches}


def run(module: Module, inputs: Any, launch: dict[str, Any]) -> dict[str, str]:
    """Run one launch and give the sha256 of its outputs."""

    def array(entry: dict[str, Any]) -> np.ndarray:
        return np.array(inputs.make(entry["type"], entry["count"], entry["init"]), DTYPES[entry["type"]])

    arguments = [
        array(a) if a["kind"] == "buffer" else DTYPES[a["type"]](a["value"]) for a in launch["arguments"]
    ]
    constants = {c["name"]: array(c) for c in launch["constant_symbols"]}
    run_reference(
        module.kernels[launch["kernel"]],
        launch["grid"],
        launch["block"],
        arguments,
        launch["dynamic_shared_bytes"],
        constants,
    )
    return {
        entry["name"]: hashlib.sha256(value.tobytes()).hexdigest()
        for entry, value in zip(launch["arguments"], arguments, strict=True)
        if entry["kind"] == "buffer" and entry["output"]
    }


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW)])
def test_outputs(shared: Path, name: str) -> None:
    folder = shared / "corpus" / "reference_kernels"
    inputs, launches = load(folder)
    launch = launches[name]
    assert launch["bit_exact"]
    module = parse((folder / "kernels.sm35.ptx").read_bytes(), "kernels.sm35.ptx")
    expected = {e["name"]: e["sha256"] for e in launch["expected_outputs"]}
    assert run(module, inputs, launch) == expected
