"""A small kernel with one branch, for the tests of the command line and the API; the type of their `cli` fixture."""

from collections.abc import Callable

from click.testing import Result

Cli = Callable[..., Result]

KERNEL = """\
.version 1.4+
.target sm_10, map_f64_to_f32
.entry k (.param .u32 n) // one branch
{
\t.reg .u32 $r<5>;
\t.reg .u32 $r124;
\t.reg .u32 $o127;
\t.reg .pred $p<2>;
\tmov.u32 $r1, $r124;
\tset.le.s32.s32 $p0/$o127, s[0x0010], $r124;
\t@$p0.ne bra L1;
\tadd.u32 $r2, $r1, $r3;
L1:
\tmov.u32 $r4, $r2;
\texit;
}
"""
