"""A kernel that scales a vector, and its launch file: for the tests of the commands that run kernels."""

SCALE = """\
.version 4.0
.target sm_20
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 a)
{
\t.reg .f32 %f<3>;
\t.reg .b32 %r<5>;
\t.reg .b64 %rd<4>;
\tld.param.u64 %rd1, [x];
\tld.param.f32 %f1, [a];
\tmov.u32 %r1, %ntid.x;
\tmov.u32 %r2, %ctaid.x;
\tmov.u32 %r3, %tid.x;
\tmad.lo.s32 %r4, %r2, %r1, %r3;
\tmul.wide.s32 %rd2, %r4, 4;
\tadd.s64 %rd3, %rd1, %rd2;
\tld.global.f32 %f2, [%rd3];
\tmul.f32 %f2, %f2, %f1;
\tst.global.f32 [%rd3], %f2;
\tret;
}
"""

INPUTS = """\
grid = 28
block = 128
registers = 20

[[args]]
name = "x"
type = "f32"
count = 3584
range = [0, 3584]
output = true

[[args]]
name = "a"
type = "f32"
value = 2.5
"""
"""What a launch file says of the launch and its arguments, apart from the kernel."""

LAUNCH = f"""\
kernel = "scale"
{INPUTS}
[[expect]]
arg = "x"
expr = "a * x"
"""
