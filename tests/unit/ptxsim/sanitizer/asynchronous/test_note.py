"""The cluster's barrier, `setmaxnreg`, and memory of CTAs that have ended."""

import pytest
from asynchronous_runs import assert_found

ARRIVE, WAIT = "\tbarrier.cluster.arrive.aligned;", "\tbarrier.cluster.wait.aligned;"
REMOTE = """
	mov.u32 %r5, %cluster_ctarank;
	xor.b32 %r5, %r5, 1;
	mapa.shared::cluster.u32 %r6, %r3, %r5;
"""

CLUSTERS: dict[str, tuple[str, str]] = {
    "a warp that does not arrive": (
        "warp 0 of CTA (0,0,0) arrives at the cluster's barrier more often than warp 1",
        f"\tsetp.ge.u32 %p3, %r1, 32; // -\n\t@%p3 bra DONE; // -\n{ARRIVE} // E412\n{WAIT}\nDONE:\n",
    ),
    "waits without arriving": (
        "waits at the cluster's barrier without having arrived",
        f"{ARRIVE}\n{WAIT}\n{ARRIVE} // +\n{WAIT} // E412\n",
    ),
    "arrives twice": (
        "arrives twice at the cluster's barrier",
        f"{ARRIVE}\n{WAIT} // +\n{ARRIVE} // E412\n{WAIT}\n",
    ),
    "memory of a CTA that has ended": (
        "in shared memory of the cluster's CTA 1, which has ended or is smaller",
        f"""{REMOTE}
	mov.u32 %r7, %cluster_ctarank;
	setp.ne.u32 %p3, %r7, 0;
	st.shared.u32 [%r3], 5;
{ARRIVE}
{WAIT}
	@%p3 bra DONE;
	mov.u32 %r8, 0;
LOOP:
	add.u32 %r8, %r8, 1;
	setp.lt.u32 %p4, %r8, 100;
	@%p4 bra LOOP;
	ld.shared::cluster.u32 %r9, [%r6]; // E404
DONE:
{ARRIVE} // +
{WAIT} // +
""",
    ),
}

REGISTERS: dict[str, tuple[str, str]] = {
    "raised to fewer": (
        "raises its 128 registers to 40",
        "\tsetmaxnreg.inc.sync.aligned.u32 40; // - E419\n\tsetmaxnreg.dec.sync.aligned.u32 40; // +\n",
    ),
    "lowered to more": (
        "lowers its 128 registers to 200",
        "\tsetmaxnreg.dec.sync.aligned.u32 200; // - E419\n\tsetmaxnreg.dec.sync.aligned.u32 64; // +\n",
    ),
    "not by all warps of a warp group": (
        "changes its registers, and warp 1 of its warp group does not",
        """
	setp.ge.u32 %p3, %r1, 32; // -
	@%p3 bra DONE; // -
	setmaxnreg.dec.sync.aligned.u32 64; // E419
DONE:
""",
    ),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters(name: str) -> None:
    says, body = CLUSTERS[name]
    assert_found(body, says, threads=64, grid=2, cluster=2)


@pytest.mark.parametrize("name", REGISTERS)
def test_registers(name: str) -> None:
    says, body = REGISTERS[name]
    assert_found(body, says, threads=128, bounds=".maxntid 128\n.maxnreg 128\n")
