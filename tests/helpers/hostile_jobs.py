"""Commands with files, and mutations of both: for the fuzzing of commands (tests/prop/fuzz_commands.py).

A `Job` is valid; `mutated` changes one or a few tokens or bytes of one file, or of an argument. The vocabulary has what
readers stumble over: numbers beyond every limit, names of 5000 letters, NUL, a byte order mark, nothing.
"""

import random
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from gpgpusim_files import OLD, config_of
from scalekernel import LAUNCH, SCALE
from smallkernel import KERNEL
from tinysweep import SPEC, swept, write

from ptxtool.base.resources import resource_dir
from ptxtool.formats.gpu import load_gpu

_TOKEN = re.compile(rb"[A-Za-z_$%.@][A-Za-z0-9_$.]*|[0-9][A-Za-z0-9_.]*|\s+|.", re.DOTALL)
HOSTILE = (
    b"0", b"-1", b"1", b"255", b"4294967296", b"2147483648", b"18446744073709551616", b"1" + b"0" * 30, b"9" * 5000,
    b"0x" + b"f" * 4000, b"1e400", b"nan", b"inf", b"-inf", b"0.5", b"true", b"''", b'""', b"[]", b"{}", b"[[[[]]]]",
    b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"a" * 5000, b".." , b"../../../../../../etc/passwd", b"/dev/zero", b"/", b"-",
    b"<", b">", b"=", b"{", b"}", b"(",
    b")", b"[", b"]", b";", b",", b".", b"\n", b"*", b"**", b"/", b"%", b"@", b"'", b'"',
)  # fmt: skip


@dataclass(frozen=True)
class Job:
    """Files by name, and the arguments of a command in their folder."""

    files: Mapping[str, bytes]
    arguments: tuple[str, ...]


_ON_TEXT = (
    "check k.ptx",
    "check --json k.ptx",
    "fmt --diff k.ptx",
    "live k.ptx",
    "pressure k.ptx",
    "cfg k.ptx",
    "first-use k.ptx",
    "first-use --space shared k.ptx",
    "occupancy --no-ptxas --block 128 k.ptx",
    "diff k.ptx k.ptx",
    "rewrite -p unroll-decls,reorder-decls k.ptx",
    "rewrite -p delay-first-use{share=50} k.ptx",
    "rewrite -p allocate{max-regs=16},compact k.ptx",
    "rewrite -p layout-shared{share=50},hoist-last-access{share=50},release-scratchpad{share=50} k.ptx",
    "rewrite -p split-tail-ranges{share=50},release-registers{share=50} k.ptx",
    "rewrite -p lower-ptxplus k.ptx",
    "run --max-instructions 5000 --launch launch.toml k.ptx",
    "run --max-instructions 5000 --launch launch.toml --check all k.ptx",
    "sim -q --max-cycles 3000 --launch launch.toml k.ptx",
)
_ON_LAUNCH = (
    "run --max-instructions 5000 k.ptx",
    "sim -q --max-cycles 3000 k.ptx",
    "compare k.ptx",
    "tune --predict --no-ptxas k.ptx",
    "occupancy --no-ptxas k.ptx",
    "first-use --share-registers 50 k.ptx",
)
_ON_ARGUMENTS = (
    "run --max-instructions 5000 --grid 2 --block 32 --arg f32[64]=random(1) --arg 2.5 k.ptx",
    "run --max-instructions 5000 --grid 2 --block 32 --arg x:f32[64]=np.arange(64)*0.5 --arg 0x3f800000 k.ptx",
    "run --max-instructions 5000 --grid 1,1 --block 8,4 --arg data.npy --arg 2.5 --dynamic-shared 64 k.ptx",
    "run --max-instructions 5000 --trace warp-0 --stack-bytes 64 --heap-bytes 64 k.ptx",
    "sim -q --max-cycles 3000 --scheduler two_level:3 --share-registers 90 --registers 20 --set sm.count=14 k.ptx",
    "sim -q --max-cycles 3000 --dynamic-options period=500,draws=sticky --share-registers 50 k.ptx",
    "sim -q --max-cycles 3000 --gpu gtx480 --switching finereg --hotspots --stats json k.ptx",
    "occupancy --registers 20 --block 16,16 --scratchpad 100 --scratchpad-per-sm 49152 --share-scratchpad 12.5",
    "occupancy --registers 20 --block 256 --curve --gpu gtx980-finereg",
    "overhead --gpu gtx480 --set sm.warps=48",
    "isa add",
    "isa cp.async",
    "first-use --share-registers 50 --registers 20 k.ptx",
    "rewrite -p reorder-decls{order=late,share=50,registers=20},compact{max-regs=16} k.ptx",
    "live --per thread --kernel scale k.ptx",
    "sweep show tiny.db --rows kernel --columns scheduler --value thread_ipc --where share_registers=0 --gain",
    "sweep export tiny.db -o out.csv",
)


def jobs(folder: Path) -> dict[str, list[Job]]:
    """Valid jobs by the kind of what is to be mutated; `folder` is for making them."""
    launch, text = LAUNCH.encode(), SCALE.encode()
    np.save(folder / "data.npy", np.arange(64, dtype=np.float32))
    npy = (folder / "data.npy").read_bytes()
    from_file = (
        re.sub(rb"range = .*", b'file = "data.npy"', launch)
        .replace(b"3584", b"64")
        .replace(b"grid = 28", b"grid = 1")
        .replace(b"block = 128", b"block = 64")
    )
    swept(write(folder))
    database = sqlite3.connect(folder / "tiny.db")
    database.execute("PRAGMA journal_mode = DELETE")
    database.close()
    store = (folder / "tiny.db").read_bytes()
    beside = {"k.ptx": text, "launch.toml": launch}
    machine = (resource_dir("gpus") / f"{OLD}.toml").read_bytes()
    timing = b'[latency]\nadd.int = { unit = "SP", latency = 4, interval = 1 }\n'
    own = b'inherits = "tesla-c2050"\nname = "mine"\nsm.count = 2\n' + timing
    config = "".join(f"-{key} {value}\n" for key, value in config_of(load_gpu(OLD), 3).items()).encode()
    texts = [(text, launch), (KERNEL.encode(), b"grid = 1\nblock = 32\n[[args]]\nvalue = 3\n"), *_samples()]
    everything = {**beside, "data.npy": npy, "tiny.db": store}
    swept_files = {"scale.ptx": text, "launch.toml": launch}
    spec = SPEC.encode() + b"max_cycles = 3000\n"
    return {
        "text": [Job({"k.ptx": t, "launch.toml": of}, _split(c)) for t, of in texts for c in _ON_TEXT],
        "launch": [
            Job({"launch.toml": t, "k.ptx": text, "data.npy": npy}, _split(c))
            for t in (launch, from_file)
            for c in _ON_LAUNCH
        ],
        "npy": [Job({"data.npy": npy, "k.ptx": text, "launch.toml": from_file}, _split(_ON_LAUNCH[0]))],
        "machine": [
            Job({"g.toml": m, **beside}, _split(f"{c} --gpu g.toml"))
            for m in (machine, own)
            for c in ("overhead", "occupancy --registers 20 --block 128", "sim -q --max-cycles 3000 k.ptx")
        ],
        "config": [Job({"gpgpusim.config": config}, ("overhead", "--gpu", "gpgpusim.config"))],
        "sweep": [Job({"tiny.toml": spec, **swept_files}, _split("sweep -q --jobs 1 tiny.toml"))],
        "store": [
            Job({"tiny.db": store, "tiny.toml": SPEC.encode(), **swept_files}, _split(c))
            for c in ("sweep show tiny.db", "sweep export tiny.db -o out.json", "sweep -q --jobs 1 tiny.toml")
        ],
        "counts": [
            Job(
                {
                    "counts.json": b'{"kernel": "scale", "issues": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}',
                    "k.ptx": text,
                },
                _split(
                    "rewrite -p unroll-decls,reorder-decls{order=late,share=50,registers=9,counts=counts.json} k.ptx"
                ),
            )
        ],
        "arguments": [Job(everything, _split(c)) for c in _ON_ARGUMENTS],
    }


def _samples() -> list[tuple[bytes, bytes]]:
    """Small kernels of the samples with their launch files: shared memory, barriers, PTXPlus."""
    folders = [resource_dir("samples") / name for name in ("reduction", "gaussian", "bfs", "nw1")]
    return [
        (next(folder.glob("kernel.ptx*")).read_bytes(), (folder / "launch.toml").read_bytes())
        for folder in folders
    ]


def _split(command: str) -> tuple[str, ...]:
    return tuple(command.split())


def mutated(job: Job, kind: str, choose: random.Random) -> Job:
    """The job with a change of its first file, or of its arguments after the command."""
    if kind == "arguments":
        at = choose.randrange(1, len(job.arguments)) if len(job.arguments) > 1 else 0
        arguments = list(job.arguments)
        changed = (
            _changed(arguments[at].encode(), choose).replace(b"\0", b"").decode("utf-8", "surrogateescape")
        )
        arguments[at] = changed
        return replace(job, arguments=tuple(arguments))
    name = next(iter(job.files))
    return replace(job, files={**job.files, name: _changed(job.files[name], choose)})


def _changed(data: bytes, choose: random.Random) -> bytes:
    if choose.random() < 0.2:
        return _changed_bytes(data, choose)
    tokens: list[bytes] = _TOKEN.findall(data)
    for _ in range(choose.choice((1, 1, 1, 2, 4))):
        at = choose.randrange(len(tokens) + 1)
        match choose.randrange(6):
            case 0:
                tokens[at : at + choose.randrange(1, 4)] = []
            case 1:
                tokens[at:at] = [choose.choice(HOSTILE)]
            case 2 | 3:
                tokens[at : at + 1] = [choose.choice(HOSTILE)]
            case 4:
                other = choose.randrange(len(tokens) + 1)
                tokens[at : at + 1] = tokens[other : other + choose.randrange(1, 8)]
            case _:
                tokens[at : at + 2] = tokens[at : at + 2][::-1]
    return b"".join(tokens)


def _changed_bytes(data: bytes, choose: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(choose.choice((1, 2, 8))):
        if changed:
            changed[choose.randrange(len(changed))] = choose.choice(
                (0, 1, 0x7F, 0x80, 0xFF, choose.randrange(256))
            )
    if choose.random() < 0.2:
        del changed[choose.randrange(len(changed) + 1) :]
    return bytes(changed)
