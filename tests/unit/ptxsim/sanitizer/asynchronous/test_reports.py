"""The words of findings: place, what is wrong, the next step; and what mbarriers miss at a deadlock."""

import pytest
from asynchronous_runs import OPEN, problems, texts, wait

from ptxsim.sanitizer.asynchronous.reports import parts_of


@pytest.mark.parametrize(
    ("value", "parts"),
    [(0, (0, 0, 0)), (3 | 5 << 20, (3, 5, 0)), (1 | 1 << 20 | 64 << 40 | 1 << 62, (1, 1, 64))],
)
def test_parts_of_an_mbarrier(value: int, parts: tuple[int, int, int]) -> None:
    assert parts_of(value) == parts


def test_fewer_bytes_than_none() -> None:
    assert parts_of((1 << 22) - 128 << 40) == (0, 0, -128)


def test_a_finding_has_its_places() -> None:
    """With the line of the CUDA source, where the text has one."""
    body = """	.loc 1 5 3
	st.shared.u32 [%r3], 7;
	.loc 1 9 3
	@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1], [tile], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
"""
    text = texts(body)[1].replace(".visible", '.file 1 "k.cu"\n.visible')
    (found,) = problems(text, threads=1)
    shown = str(found)
    assert "k.ptx:23:2: error[E410]: race: the asynchronous proxy reads byte 0 of variable 'tile'" in shown
    assert "k.cu:9" in shown
    assert "help: write 'fence.proxy.async.shared::cta;'" in shown
    assert "k.ptx:21:2: note: it is written here" in shown


def test_a_deadlock_names_the_mbarrier() -> None:
    body = f"""{OPEN.replace("1;", "2;")}
	@%p1 mbarrier.arrive.shared.b64 %d4, [gate];
{wait()}"""
    (found,) = problems(texts(body)[1])
    words = (
        "the mbarrier at byte 0 of variable 'gate' (8 bytes) in shared memory waits for 1 arrival and 0 bytes"
    )
    assert words in found.message
