"""What instructions are for the checks of asynchronous code."""

from asynchronous_runs import texts

from ptxsim.lowering.lower import lower
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer.instrumentation import Tables
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse

BODY = """
	mov.b32 %r4, %r5;
	mov.b32 %r6, 7;
	fence.proxy.async;
	fence.proxy.async.global;
	fence.proxy.async.shared::cta;
	fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;
	tcgen05.shift.cta_group::2.down [%r4];
	mbarrier.try_wait.parity.shared.b64 %p2, [gate], 0;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r4, %r5, %r6, %r7}, %d4, 1, 1, 1, 0;
"""


def test_facts() -> None:
    kernel = parse(texts(BODY)[1]).kernels["k"]
    program = lower(kernel, load_gpu("h100"), (128, 1, 1))
    tables = Tables.of(program)
    start = next(i for i, text in enumerate(program.texts) if "%r4, %r5;" in text)
    checked = tables.checked[start : start + 9]
    assert checked["moves"].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert checked["asynchronous"].tolist() == [
        0,
        0,
        *[state.FENCES_PROXY] * 4,
        state.TENSOR_COPIES,
        state.TESTS,
        state.MULTIPLIES,
    ]
    shared, global_, maps = (1 << p for p in (state.SHARED_PROXY, state.GLOBAL_PROXY, state.MAP_PROXY))
    assert checked["proxies"].tolist() == [0, 0, shared | global_, global_, shared, maps, 0, 0, 0]
    product = checked[8]
    fragment = tables.registers[product["end"] : product["fragment_end"]]
    assert [program.register_names[r] for r in fragment] == ["%r4", "%r5", "%r6", "%r7"]
