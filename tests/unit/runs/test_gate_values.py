"""Values of a kernel, counted by hand."""

import ptxtool
from ptxtool.formats.gpu import machine_of
from ptxtool.runs.gate_values import static_values

TEXT = """\
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .u32 %r<2>;
	.reg .u64 %rd<2>;
	.shared .u32 s[64];
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	st.shared.u32 [s], %r1;
	bar.sync 0;
	st.global.u32 [%rd1], %r1;
	ret;
}
"""


def test_values() -> None:
    kernel = ptxtool.parse(TEXT).kernels["k"]
    (counts,) = ptxtool.register_counts(kernel.module, ptxas=False)
    values = static_values(kernel, counts, machine_of("tesla-c2050"), 256)
    # live before the stores: %rd1 (two) and %r1; 64 words of 4 bytes; 1536 threads of an SM by 256
    assert values["pressure"] == 3
    assert values["instructions"] == 6
    assert values["shared"] == 256
    assert values["barriers"] == 1
    assert values["occupancy"] == 6
    assert "spills" not in values
