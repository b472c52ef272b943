"""A kernel that registers limit: values that live from their loads to the end of a loop that waits for memory.

On `tesla-c2050` with 256 threads per CTA four CTAs fit at its 25 registers, five at 24 and six at 20.
"""

N = 18
"""Values that are loaded first and read last."""


def crowded(head: str = "", n: int = N) -> str:
    """The text, with directives for the kernel's head."""
    loads = "".join(f"\tld.global.f32 %f{k}, [%rd4+{1024 * k}];\n" for k in range(1, n + 1))
    sums = "".join(f"\tfma.rn.f32 %f{n + 1}, %f{k}, %f{n + 1}, %f{k};\n" for k in range(1, n + 1))
    return f"""\
.version 7.0
.target sm_70
.address_size 64
.visible .entry crowded(.param .u64 in, .param .u64 out)
{head}{{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .f32 %f<{n + 3}>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r2, %r3, %r1;
	mul.wide.u32 %rd3, %r4, 4;
	add.u64 %rd4, %rd1, %rd3;
	add.u64 %rd5, %rd2, %rd3;
{loads}	mov.u32 %r5, 0;
	ld.global.f32 %f{n + 1}, [%rd4];
$L:
	ld.global.f32 %f{n + 2}, [%rd4+1024];
	fma.rn.f32 %f{n + 1}, %f{n + 1}, 0f3F000000, %f{n + 2};
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p1, %r5, 10;
	@%p1 bra $L;
{sums}	st.global.f32 [%rd5], %f{n + 1};
	ret;
}}
"""


def launch(ctas: int = 84, threads: int = 256, n: int = N) -> str:
    """A launch file for it."""
    count = ctas * threads
    return f"""\
grid = {ctas}
block = {threads}

[[args]]
name = "in"
type = "f32"
count = {count + 256 * (n + 1)}
random = {{ seed = 1, low = 0.5, high = 1.0 }}

[[args]]
name = "out"
type = "f32"
count = {count}
output = true
"""
