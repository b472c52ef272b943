"""Small kernels that run with the checks of `ptxsim.run(check=...)`, and marks in them where a fault must be reported.

A case is the body of a kernel over `.param .u64 p` (words that threads read and write), `.param .u64 q` (words that
were never written) and 256 bytes of shared memory `tile`. Two CTAs run, each with words of its own, 64 words apart;
words 64 to 127 are for both. The prologue has %tid.x in %r1, %ctaid.x in %r0, the addresses of the CTA's words in %rd1
and %rd4, of p[tid] in %rd3 and of q[tid] in %rd5, of p[64] in %rd7, and the shared address of tile[tid] in %r4.
`// E410` marks where a fault must be reported, `// note` the other place.
"""

import re

import numpy as np

import ptxsim
import ptxtool

ALL = ("memory", "init", "races", "barriers")


HEAD = """\
.version 8.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q)
{{
    .reg .pred %p<5>;
    .reg .b16 %h<3>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<9>;
    .shared .align 16 .b8 tile[256];
    .local .align 8 .b8 mine[16];
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd4, [q];
    add.s64 %rd7, %rd1, 256;
    mov.u32 %r0, %ctaid.x;
    mul.wide.u32 %rd2, %r0, 512;
    add.s64 %rd1, %rd1, %rd2;
    add.s64 %rd4, %rd4, %rd2;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    add.s64 %rd5, %rd4, %rd2;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.s32 %r4, %r3, %r2;
"""


def check(body: str, checks=ALL, target: str = "sm_80", threads: int = 64, ctas: int = 2):
    text = HEAD.format(target=target) + body + "    ret;\n}\n"
    kernel = ptxtool.parse(text, name="k.ptx").kernels["k"]
    p, q = np.arange(192, dtype=np.uint32), np.zeros(192, np.uint32)
    result = ptxsim.run(kernel, ctas, threads, [p, q], check=checks, undefined=[q])
    assert result.lost_problems == 0
    return text, result.problems


def marked(text: str, mark: str) -> list[int]:
    return [n for n, line in enumerate(text.split("\n"), 1) if line.endswith(f"// {mark}")]


def assert_found_where_marked(body, **how):
    """All checks report what is marked in a kernel, each fault at its line and with its note, and nothing else."""
    text, problems = check(body, **how)
    codes = set(re.findall(r"// (E\d+)", text))
    for code in codes:
        assert [d.line for d in problems if d.code == code] == marked(text, code)
    assert {d.code for d in problems} == codes
    notes = [d.note.source.line(d.note.start) for d in problems if d.note]
    assert notes == marked(text, "note")
