"""GPGPU-Sim's options of the SMs: limits, pipeline, units, collectors, latencies. For `machine.py`.

Limits: units for doubles, integers and matrices are not there, nor isolated schedulers; generic collector units are
given to the classes.
Reference: docs/gpgpusim.md; timing-model sections 0 and 1.6, timing-model-42 section 1.6.
"""

from ptxtool.base.phrases import did_you_mean
from ptxtool.formats.gpgpusim import values
from ptxtool.formats.gpgpusim.given import Given
from ptxtool.formats.gpgpusim.text import Setting

MOST_LDST = 16
"""Memory instructions that the simulator holds between issue and the LDST unit."""
_OPERANDS = "gpgpu_operand_collector_num_"


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
    if per_cluster > 1:
        given.differs(given.need("gpgpu_n_cores_per_cluster"), "every SM has a network port of its own")
    given.put("sm.count", given.whole("gpgpu_n_clusters", 1) * per_cluster, "gpgpu_n_clusters")
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
    # SP, SFU, MEM; of nine numbers SP, DP, SFU, MEM; of more SP, DP, INT, SFU, MEM; after both stages EX_WB
    classes = {7: 3, 9: 4}.get(len(w), 5)
    for stage, first in (("id_oc", 0), ("oc_ex", classes)):
        for name, place in (("sp", 0), ("sfu", classes - 2), ("mem", classes - 1)):
            given.put(f"pipeline.{stage}_{name}", w[first + place], widths.name)
    given.put("pipeline.ex_wb", w[2 * classes], widths.name)
    given.take("fetch.per_cycle", "gpgpu_inst_fetch_throughput", 1)
    for part in ("sp", "sfu"):
        given.take(f"pipeline.{part}_units", f"gpgpu_num_{part}_units", 1)
    specialised = given.setting("gpgpu_enable_specialized_operand_collector")
    if specialised is None or values.switch(specialised):
        _collectors(given)
    else:
        _generic_collectors(given, before_ldst=w[classes - 1] + w[2 * classes - 1] + 1)


def _collectors(given: Given) -> None:
    """Collector units of the classes, and their ports."""
    generic = given.need(f"{_OPERANDS}units_gen")
    if values.whole(generic):
        given.differs(generic, "every class has collector units of its own")
    for part in ("sp", "sfu", "mem"):
        units, ports = f"{_OPERANDS}units_{part}", f"{_OPERANDS}in_ports_{part}"
        given.take(f"pipeline.collectors_{part}", units, 1)
        given.take(f"pipeline.ports_{part}", ports, 1)
        out = given.need(f"{_OPERANDS}out_ports_{part}")
        if values.whole(out, 1) != given.whole(ports):
            given.differs(out, f"there are as many out-ports as in-ports: {given.whole(ports)}")


def _generic_collectors(given: Given, before_ldst: int) -> None:
    """Units that take any instruction, as units of the classes: SP has them all, SFU and LDST half."""
    name = f"{_OPERANDS}units_gen"
    units = given.whole(name, 1)
    half = (units + 1) // 2
    for part, count in (("sp", units), ("sfu", half), ("mem", max(1, min(half, MOST_LDST - before_ldst)))):
        given.put(f"pipeline.collectors_{part}", count, name)
        given.put(
            f"pipeline.ports_{part}", given.tables["pipeline"][f"id_oc_{part}"], "gpgpu_pipeline_widths"
        )


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
    for key, of_type in pairs.items():
        if given.version == 3:  # whatever the type
            _time(given, "sfu", key, pairs["fp64"][2], "dp")
            continue
        special = (given.whole("ptx_opcode_latency_sfu", 1), given.whole("ptx_opcode_initiation_sfu", 1))
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
