"""A kernel with a short region of high register pressure, which `split-registers` divides: few values live in its loop.

On `gtx980-finereg` with 64 threads per CTA 25 CTAs fit at its 34 registers, of which 40 are allocated. Of the 47120
registers outside of the pool 30 CTAs have 24 each, which leaves 10 extended ones: 57 sections.
"""

from pathlib import Path

N = 30
"""Values that live together after the loop."""


def pressured(n: int = N) -> str:
    """The text."""
    loads = "".join(f"\tld.global.f32 %f{k}, [%rd4+{1024 * k}];\n" for k in range(2, n + 2))
    sums = "".join(f"\tadd.f32 %f1, %f1, %f{k};\n" for k in range(2, n + 2))
    return f"""\
.version 7.0
.target sm_20
.address_size 64
.visible .entry pressured(.param .u64 in, .param .u64 out)
{{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .f32 %f<{n + 3}>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [in];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r2, %r3, %r1;
	mul.wide.u32 %rd3, %r4, 4;
	add.u64 %rd4, %rd1, %rd3;
	mov.u32 %r5, 0;
	mov.f32 %f1, 0f00000000;
$L:
	ld.global.f32 %f2, [%rd4];
	fma.rn.f32 %f1, %f1, 0f3F000000, %f2;
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p1, %r5, 10;
	@%p1 bra $L;
{loads}{sums}	ld.param.u64 %rd2, [out];
	add.u64 %rd5, %rd2, %rd3;
	st.global.f32 [%rd5], %f1;
	ret;
}}
"""


def launch(ctas: int = 1280, threads: int = 64, n: int = N) -> str:
    """A launch file for it."""
    count = ctas * threads
    return f"""\
grid = {ctas}
block = {threads}

[[args]]
name = "in"
type = "f32"
count = {count + 256 * (n + 2)}
random = {{ seed = 1, low = 0.5, high = 1.0 }}

[[args]]
name = "out"
type = "f32"
count = {count}
output = true
"""


def write(folder: Path) -> Path:
    """The kernel and its launch file."""
    (folder / "launch.toml").write_text(launch())
    path = folder / "pressured.ptx"
    path.write_text(pressured())
    return path
