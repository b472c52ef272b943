"""Short ways to get a kernel in a test: written in a few lines, or of a packaged sample."""

from functools import cache

from ptxtool.base.resources import resource_dir
from ptxtool.formats.launch.launch_file import Launch, load_launch
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

_PTXPLUS_REGISTERS = (
    ".reg .u32 $r<10>; .reg .u32 $ofs<3>; .reg .pred $p<3>; .reg .u32 $r124; .reg .u32 $o127;"
)
_PTX_REGISTERS = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .f32 %f<8>;"

# %r9 and %r8 die at the add, in units 0 and 1, which %rd0 takes as an aligned pair: %r7 is in unit 2
VIRTUAL = """
mov.u32 %r9, %tid.x;
mov.u32 %r8, %tid.y;
setp.eq.u32 %p1, %r8, 0;
add.u32 %r7, %r9, %r8;
cvt.u64.u32 %rd0, %r7;
st.global.u32 [%rd0], %r7;
ret;
"""


def ptxplus(body: str, registers: str = _PTXPLUS_REGISTERS) -> Function:
    """A PTXPlus kernel `k` with that body; declares `$r0`-`$r9`, `$ofs0`-`$ofs2`, `$p0`-`$p2`, `$r124`, `$o127`."""
    module = parse(f".version 1.4+\n.target sm_10\n.entry k ( .param .u32 a )\n{{\n{registers}\n{body}\n}}\n")
    return module.kernels["k"]


def ptx(body: str, registers: str = _PTX_REGISTERS) -> Function:
    """A PTX kernel `k` with that body; declares `%p`, `%h` (16 bits), `%r`, `%rd`, `%f`."""
    head = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k ( .param .u64 a )"
    return parse(f"{head}\n{{\n{registers}\n{body}\n}}\n").kernels["k"]


@cache
def sample(name: str) -> tuple[Launch, Function]:
    """The launch file of a packaged sample, and its kernel."""
    launch = load_launch(resource_dir("samples") / name / "launch.toml")
    assert launch.file is not None
    return launch, parse(launch.file.read_bytes(), str(launch.file)).kernels[str(launch.kernel)]
