"""The `RUN` record of a machine: its settings for the cycle loop, the same for every launch."""

from typing import Any

import numpy as np

from ptxsim.base.program import DP, INT, LDST, SFU, SP, TENSOR
from ptxsim.timing.banks import bank_turn, banks_of_warp
from ptxsim.timing.machine_records import PERFECT_LINE, collector_sets, needs_wide
from ptxsim.timing.sharing.pairs import NON_OWNER, OWNER, SAFE, STRICT, SYMMETRIC, UNSHARED
from ptxsim.timing.sm_state import RUN, RUN_WIDE
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_parts import Pipeline

_CLASSES = {"owner": OWNER, "unshared": UNSHARED, "non-owner": NON_OWNER}
_LOCK_RULES = {"safe": SAFE, "strict": STRICT, "symmetric": SYMMETRIC}
_PARTS = {"sp": SP, "sfu": SFU, "mem": LDST, "tensor": TENSOR, "dp": DP, "int": INT}
"""Classes of instructions by their names in keys of GPU files."""
_runs: IdentityCache[Any] = IdentityCache(8)


def run_record(gpu: Gpu) -> Any:
    """A new `RUN` record of a machine, as an array of one; fields that depend on the launch are 0."""
    run = _runs.get(gpu, None, lambda: _run_of(gpu))
    return run.view(np.uint8).copy().view(run.dtype)  # as bytes: field by field it takes ten times as long


def _run_of(gpu: Gpu) -> Any:
    run = np.zeros(1, RUN_WIDE if needs_wide(gpu) else RUN)
    r = run[0]
    pipeline, fetch = gpu.pipeline, gpu.fetch
    r["n_sms"], r["contexts"], r["n_schedulers"] = gpu.sm.count, gpu.sm.warps, gpu.sm.schedulers
    for name, k in _PARTS.items():
        r["port_width"][k] = getattr(pipeline, f"id_oc_{name}")
        r["oc_ex_width"][k] = getattr(pipeline, f"oc_ex_{name}")
    r["issue_width"], r["pair_differs"] = pipeline.issue_per_warp, pipeline.issue_pairs == "different-units"
    _describe_classes(r, gpu)
    collectors = (pipeline.collectors_sp, pipeline.collectors_sfu, pipeline.collectors_mem)
    first = (0, collectors[0], collectors[0] + collectors[1])
    r["first_collector"] = first
    r["collectors"] = [(1 << n) - 1 << at for n, at in zip(collectors, first, strict=True)]
    r["collector_ports"] = pipeline.ports_sp, pipeline.ports_sfu, pipeline.ports_mem
    r["n_banks"], r["model_banks"] = pipeline.register_banks, pipeline.bank_conflicts
    r["bank_mask"], r["bank_turn"] = banks_of_warp(gpu) - 1, bank_turn(gpu)
    r["n_sp"], r["n_sfu"], r["result_buses"] = pipeline.sp_units, pipeline.sfu_units, pipeline.ex_wb
    r["collector_stage"] = pipeline.collector_step == "own"
    r["collector_reads"] = pipeline.collector_reads
    r["rotate_schedulers"] = pipeline.scheduler_order == "rotating"
    r["long_lasting"] = pipeline.long_operation == "until-computed"
    r["taken_first"] = pipeline.first_path == "taken"
    r["unowned_class"] = _CLASSES[gpu.sharing.unowned]
    r["lock_rule"] = _LOCK_RULES[gpu.sharing.lock_rule]
    r["count_idle"] = gpu.dispatch.idle_sms == "counted"
    r["sms_per_port"] = per_port = gpu.icnt.sms_per_port
    r["port_turn"] = per_port - 1
    r["last_sm"] = r["launched_sm"] = (gpu.dispatch.first_sm - 1) % gpu.sm.count
    r["ibuffer"], r["fetches"] = fetch.ibuffer_entries, fetch.per_cycle
    r["constant_line"] = PERFECT_LINE if gpu.l1c.perfect else gpu.l1c.line_bytes
    r["response_hops"] = gpu.ldst.response_hops
    r["shared_pipe"] = gpu.ldst.shared_pipe_cycles
    r["atomic_parts"] = gpu.ldst.atomic_warp_parts
    for name in ("segment", "uncached_segment"):
        segment = getattr(gpu.ldst, f"{name}_bytes")
        r[name] = segment if segment < 128 else 0
    if gpu.l1d.line_bytes < 128 and not r["segment"]:  # an access lies in one line of the L1
        r["segment"] = gpu.l1d.line_bytes
    return run


def _describe_classes(r: Any, gpu: Gpu) -> None:
    """Sets of collector units, sub-cores, and the units of all classes."""
    pipeline = gpu.pipeline
    sub_cores = gpu.sm.schedulers if pipeline.sub_cores else 1
    r["collector_steps"] = pipeline.collector_steps
    r["last_sub_core"], r["sub_core_banks"] = sub_cores - 1, banks_of_warp(gpu)
    if pipeline.has_classes:
        _describe_sets(r, pipeline, sub_cores)
    first = 0
    for name, k in _PARTS.items():
        if name != "mem":
            r["class_units"][k], r["first_unit"][k] = getattr(pipeline, f"{name}_units"), first
            first += int(r["class_units"][k])


def _describe_sets(r: Any, pipeline: Pipeline, sub_cores: int) -> None:
    """The sets of collector units, one after the other."""
    sets = collector_sets(pipeline)
    r["collector_sets"] = len(sets)
    first = first_out = 0
    for s, own in enumerate(sets):
        for name in own.classes:
            r["set_of"][_PARTS[name]] = s
            r["set_classes"][s] |= 1 << _PARTS[name]
        r["set_units"][s], r["set_first"][s], r["set_sub_core"][s] = own.units, first, own.units // sub_cores
        r["set_in_ports"][s], r["set_out_ports"][s] = own.in_ports, own.out_ports
        r["set_first_out"][s] = first_out
        first, first_out = first + own.units, first_out + own.out_ports
