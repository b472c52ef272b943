"""GPGPU-Sim's options of the SMs: limits, pipeline, units, collectors, latencies. For `machine.py`.

Limits: sub-cores come with generic collector units only; a class's collector units have as many out-ports as in-ports.
Reference: docs/gpgpusim.md; timing-model sections 0 and 1.6, timing-model-42 section 1.6.
"""

from ptxtool.base.phrases import did_you_mean
from ptxtool.formats.gpgpusim import values
from ptxtool.formats.gpgpusim.given import Given
from ptxtool.formats.gpgpusim.text import Setting

_OPERANDS = "gpgpu_operand_collector_num_"
_MORE_UNITS = {
    "dp": "gpgpu_num_dp_units",
    "int": "gpgpu_num_int_units",
    "tensor": "gpgpu_num_tensor_core_units",
}
_TENSOR = {"tensor": "tensor_core"}
"""Classes that GPGPU-Sim's options of collector units call otherwise."""


def read_core(given: Given) -> None:
    """Everything within an SM but its caches."""
    _limits(given)
    _pipeline(given)
    _latencies(given)


def _limits(given: Given) -> None:
    clocks = given.need("gpgpu_clock_domains")
    core, icnt, l2, dram = values.megahertz(clocks)
    given.put_all("clocks", clocks.name, core_mhz=core, icnt_mhz=icnt, l2_mhz=l2, dram_mhz=dram)
    per_cluster = given.whole("gpgpu_n_cores_per_cluster", 1)
    given.put("sm.count", given.whole("gpgpu_n_clusters", 1) * per_cluster, "gpgpu_n_clusters")
    at_port = per_cluster & -per_cluster  # the largest power of two that divides it
    given.put("icnt.sms_per_port", at_port, "gpgpu_n_cores_per_cluster")
    if at_port < per_cluster:
        own = f"{at_port} SMs share a port" if at_port > 1 else "every SM has a network port of its own"
        worth = "where the SMs of a cluster together receive more than a packet a cycle"
        given.differs(given.need("gpgpu_n_cores_per_cluster"), own, worth=worth)
    pipeline = given.need("gpgpu_shader_core_pipeline")
    threads, warp_size, *_ = values.numbers(pipeline, ":", (2, 3))
    if warp_size != 32 or threads % 32 or not threads:
        raise pipeline.wrong("give threads in whole warps of 32, such as 1536:32")
    given.put_all("sm", pipeline.name, threads=threads, warp_size=warp_size, warps=threads // warp_size)
    shared = "gpgpu_shmem_size"
    if "gpgpu_shmem_sizeDefault" in given.options:
        shared = "gpgpu_shmem_sizeDefault"
    for key, name in (
        ("sm.ctas", "gpgpu_shader_cta"),
        ("sm.registers", "gpgpu_shader_registers"),
        ("sm.scratchpad_bytes", shared),
        ("sm.schedulers", "gpgpu_num_sched_per_core"),
        ("pipeline.register_banks", "gpgpu_num_reg_banks"),
    ):
        given.take(key, name, 1)
    given.put("pipeline.bank_function", "reg+warp")  # -gpgpu_reg_bank_use_warp_id changes nothing there
    given.put("scheduler", _scheduler(given.need("gpgpu_scheduler")), "gpgpu_scheduler")


def _pipeline(given: Given) -> None:
    widths = given.need("gpgpu_pipeline_widths")
    w = values.numbers(widths, ",", (7, 9, 11, 13))
    for stage, first in (("id_oc", 0), ("oc_ex", len(_classes(w)))):
        for place, name in enumerate(_classes(w)):
            if name in ("sp", "sfu", "mem") or _has_classes(given):
                given.put(f"pipeline.{stage}_{name}", w[first + place], widths.name)
    given.put("pipeline.ex_wb", w[2 * len(_classes(w))], widths.name)
    if len(w) == 13 and _has_classes(given):
        given.put_all("pipeline", widths.name, id_oc_tensor=w[11], oc_ex_tensor=w[12])
    given.take("fetch.per_cycle", "gpgpu_inst_fetch_throughput", 1)
    given.take("pipeline.issue_per_warp", "gpgpu_max_insn_issue_per_warp", 1)
    pairs = "different-units" if given.is_on("gpgpu_dual_issue_diff_exec_units") else "any"
    given.put("pipeline.issue_pairs", pairs, "gpgpu_dual_issue_diff_exec_units")
    given.take("dispatch.launch_cycles", "gpgpu_kernel_launch_latency")
    given.take("dispatch.cta_launch_cycles", "gpgpu_TB_launch_latency")
    policy = "leftover" if given.is_on("gpgpu_concurrent_kernel_sm") else "one-per-sm"
    given.put("dispatch.kernels", policy, "gpgpu_concurrent_kernel_sm")
    given.take("dispatch.concurrent_kernels", "gpgpu_max_concurrent_kernel", 1)
    for part in ("sp", "sfu"):
        given.take(f"pipeline.{part}_units", f"gpgpu_num_{part}_units", 1)
    if _shares(given):
        _shared_collectors(given)
    else:
        _collectors(given)


def _classes(widths: list[int]) -> list[str]:
    """The classes that the widths of ID_OC and OC_EX are of, in their order; those of tensor units come last of all."""
    return {7: ["sp", "sfu", "mem"], 9: ["sp", "dp", "sfu", "mem"]}.get(
        len(widths), ["sp", "dp", "int", "sfu", "mem"]
    )


def _shares(given: Given) -> bool:
    """Whether the classes share collector units."""
    specialised = given.setting("gpgpu_enable_specialized_operand_collector")
    return specialised is not None and not values.switch(specialised)


def _has_classes(given: Given) -> bool:
    """Whether there are six classes: their collector units are shared, or some have units that Fermi's have not."""
    if given.version == 3:
        return False
    has_more = any(given.whole(option) for option in _MORE_UNITS.values())
    return _shares(given) or has_more or given.whole("gpgpu_reg_file_port_throughput") > 1


def _collectors(given: Given) -> None:
    """Collector units of the classes, and their ports."""
    generic = given.need(f"{_OPERANDS}units_gen")
    if values.whole(generic):
        given.differs(generic, "every class has collector units of its own")
    for part in ("sp", "sfu", "mem"):
        _own_units(given, part)
    if _has_classes(given):
        for part, option in _MORE_UNITS.items():
            given.take(f"pipeline.{part}_units", option)
            if given.whole(option):
                _own_units(given, part)
        given.take("pipeline.collector_steps", "gpgpu_reg_file_port_throughput", 1)
    if given.is_on("gpgpu_sub_core_model"):
        instead = "the schedulers of an SM share its pipelines, collectors and register banks"
        worth = "where warps of one scheduler have more to do than those of the others"
        given.differs(given.need("gpgpu_sub_core_model"), instead, worth=worth)


def _own_units(given: Given, part: str) -> None:
    """The collector units of one class, and their ports."""
    option = _TENSOR.get(part, part)
    ports = f"{_OPERANDS}in_ports_{option}"
    given.take(f"pipeline.collectors_{part}", f"{_OPERANDS}units_{option}", 1)
    given.take(f"pipeline.ports_{part}", ports, 1)
    out = given.need(f"{_OPERANDS}out_ports_{option}")
    if values.whole(out, 1) != given.whole(ports):
        given.differs(out, f"there are as many out-ports as in-ports: {given.whole(ports)}")


def _shared_collectors(given: Given) -> None:
    """Generic collector units, and what only machines with them have."""
    for key, name in (
        ("collectors_shared", f"{_OPERANDS}units_gen"),
        ("ports_shared", f"{_OPERANDS}in_ports_gen"),
        ("out_ports_shared", f"{_OPERANDS}out_ports_gen"),
        ("collector_steps", "gpgpu_reg_file_port_throughput"),
    ):
        given.take(f"pipeline.{key}", name, 1)
    given.put("pipeline.sub_cores", given.is_on("gpgpu_sub_core_model"), "gpgpu_sub_core_model")
    for part, option in _MORE_UNITS.items():
        given.take(f"pipeline.{part}_units", option)
    for part in ("sp", "sfu", "mem"):
        units = given.setting(f"{_OPERANDS}units_{part}")
        if units is not None and units.end > units.start and values.whole(units):
            given.differs(units, "the generic collector units take the instructions of all classes")


def _units(given: Given) -> dict[str, str]:
    """The units of integers, doubles and products of matrices."""
    has = {part: _has_classes(given) and given.whole(option) for part, option in _MORE_UNITS.items()}
    return {
        "int": "INT" if has["int"] else "SP",
        "fp32": "SP",
        "fp64": "DP" if has["dp"] else "SFU",
        "mma": "TENSOR" if has["tensor"] else "SFU",
    }


def _put_units(given: Given) -> None:
    """The unit of each kind of instruction in GPGPU-Sim 4.x: what has none of its own is an integer operation."""
    unit = _units(given)
    for key in ("int", "fp32", "fp64"):
        for names, chosen in (
            (("add", "minmax", "mul", "mad", "fma"), unit[key]),
            (("mul24", "mad24", "shfl", "alu", "branch", "barrier"), unit["int"]),
            (("div", "rem", "sfu"), "SFU"),
            (("mma",), unit["mma"]),
        ):
            for name in names:
                given.put(f"latency.{name}.{key}.unit", chosen, "gpgpu_num_int_units")


def _latencies(given: Given) -> None:
    """Latency and initiation interval; an instruction without an option has those of another one, as in GPGPU-Sim."""
    pairs: dict[str, list[tuple[int, int]]] = {}
    for kind, key in (("int", "int"), ("fp", "fp32"), ("dp", "fp64")):
        counts = (5, 6) if kind == "int" else (5,)
        latency = values.numbers(given.need(f"ptx_opcode_latency_{kind}"), ",", counts)
        interval = values.numbers(given.need(f"ptx_opcode_initiation_{kind}"), ",", counts)
        pairs[key] = list(zip(latency, interval, strict=False))
        for unit, pair in zip(("add", "minmax", "mul", "mad", "div"), pairs[key], strict=False):
            _time(given, unit, key, pair, kind)
    multiply, multiply_add = pairs["int"][2], pairs["int"][3]
    if given.version == 4:
        _put_units(given)
        if len(pairs["int"]) < 6 and _units(given)["int"] == "INT":
            what = "the time of 'shfl', its sixth number, which is missing,"
            instead, worth = "'shfl' takes as long as a move", "to kernels with 'shfl' alone"
            given.differs(given.need("ptx_opcode_latency_int"), instead, what, worth)
    for key, of_type in pairs.items():
        if given.version == 3:  # whatever the type
            _time(given, "sfu", key, pairs["fp64"][2], "dp")
            continue
        special = (given.whole("ptx_opcode_latency_sfu", 1), given.whole("ptx_opcode_initiation_sfu", 1))
        tensor = (given.whole("ptx_opcode_latency_tesnor", 1), given.whole("ptx_opcode_initiation_tensor", 1))
        _time(given, "mma", key, tensor if _units(given)["mma"] == "TENSOR" else special, "sfu")
        if len(pairs["int"]) == 6:
            _time(given, "shfl", key, pairs["int"][5], "int")
        _time(given, "sfu", key, special, "sfu")
        _time(given, "fma", key, of_type[3], "fp")
        _time(given, "rem", key, of_type[4], "int")
        _time(given, "mul24", key, (multiply[0] + 1, multiply[1] + 1), "int")
        _time(given, "mad24", key, (multiply_add[0] + 1, multiply_add[1] + 1), "int")


def _time(given: Given, unit: str, key: str, pair: tuple[int, int], kind: str) -> None:
    given.put(f"latency.{unit}.{key}.latency", pair[0], f"ptx_opcode_latency_{kind}")
    given.put(f"latency.{unit}.{key}.interval", pair[1], f"ptx_opcode_initiation_{kind}")


def _scheduler(setting: Setting) -> str:
    """The scheduler as the simulator calls it."""
    kind, *rest = setting.value.split(":")
    if not rest and kind in ("lrr", "gto", "rrr", "old"):
        return kind
    if kind == "two_level_active" and len(rest) == 3 and values.is_number(rest[0]) and int(rest[0]):
        if rest[1:] != ["0", "1"]:
            advice = "write ':0:1' after the number: round robin inside, in order outside; it has no others"
            raise setting.wrong(advice)
        return f"two_level:{rest[0]}"
    if kind == "warp_limiting" and len(rest) == 2 and values.is_number(rest[1]) and int(rest[1]):
        if rest[0] != "2":
            advice = f"write 'warp_limiting:2:{rest[1]}': greedy, then oldest; it has no others"
            raise setting.wrong(advice)
        return f"static_limit:{rest[1]}"
    known = ("lrr", "gto", "rrr", "old", "two_level_active", "warp_limiting")
    there = "there are lrr, gto, rrr, old, two_level_active:N:0:1 and warp_limiting:2:N"
    advice = there if kind in known else did_you_mean(kind, known, then=there)
    raise setting.wrong(advice, f"is '{setting.value}', no warp scheduler")
