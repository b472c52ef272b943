"""A small text for tests of the language server, with every kind of name."""

PTX = """\
.version 7.5
.target sm_75
.address_size 64

.global .u32 total;

.func (.reg .u32 %out) twice(.reg .u32 %in)
{
	add.u32 %out, %in, %in;
	ret;
}

.visible .entry k(.param .u64 data, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .u32 %r<6>;
	.reg .u64 %rd<2>;
	.shared .u32 cache[32];

	ld.param.u64 %rd1, [data];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
LOOP:
	add.u32 %r2, %r2, %r1;
	{
		.reg .u32 %r2;
		mov.u32 %r2, 5;
		st.shared.u32 [cache], %r2;
	}
	setp.lt.u32 %p1, %r2, 100;
	@%p1 bra LOOP;
	call (%r3), twice, (%r2);
	st.global.u32 [%rd1], %r3;
	st.global.u32 [total], %r3;
	ret;
}
"""

PTXPLUS = """\
.version 1.4+
.target sm_20

.entry k(.param .u32 __cudaparm_k_n)
{
	.reg .u32 $r<4>;
	mov.u32 $r1, s[0x0010];
	add.u32 $r2, $r1, $r1;
	l0x10: add.u32 $r3, $r2, 0x1;
	exit;
}
"""


def at(text: str, words: str, n: int = 1, inside: str = "") -> int:
    """The offset of the n-th place of some words, or of a word inside of them."""
    found = -1
    for _ in range(n):
        found = text.index(words, found + 1)
    return found + words.index(inside) if inside else found
