"""What programs see of the machine."""

from ptxsim.launch_options import LaunchOptions
from ptxtool.applications.device import FUNCTIONAL_SHARED_BYTES, device_record
from ptxtool.applications.protocol import DEVICE
from ptxtool.applications.settings import Settings
from ptxtool.formats.gpu import load_gpu


def figures(check: str = "", **changes: object) -> dict[str, int]:
    options = LaunchOptions(check=check)
    settings = Settings(load_gpu("tesla-c2050"), options, **changes)  # type: ignore[arg-type]
    names = "memory shared_cta shared_sm constant reserved major minor sms registers_cta registers_sm threads ctas"
    names += " core_khz memory_khz bus_bits l2 tracks_writes"
    return dict(zip(names.split(), DEVICE.unpack(device_record(settings, 75)), strict=True))


def test_the_tesla_c2050() -> None:
    """14 SMs at 1.15 GHz in GPGPU-Sim's two halves, 48 KB of shared memory, a bus of 384 bits, an L2 of 768 KB."""
    found = figures(timed=True)
    assert (found["sms"], found["threads"], found["registers_sm"], found["ctas"]) == (14, 1536, 32768, 8)
    assert (found["shared_cta"], found["shared_sm"], found["bus_bits"]) == (49152, 49152, 384)
    assert (found["core_khz"], found["memory_khz"], found["l2"]) == (575_000, 750_000, 768 << 10)
    assert (found["major"], found["minor"]) == (7, 5)


def test_a_run_without_a_machine_is_not_limited_by_one() -> None:
    assert figures()["shared_cta"] == FUNCTIONAL_SHARED_BYTES
    assert figures(gpu_chosen=True)["shared_cta"] == 49152
    assert figures(memory_bytes=1 << 20)["memory"] == 1 << 20


def test_writes_are_tracked_for_the_check_of_initialisation() -> None:
    assert [figures(check)["tracks_writes"] for check in ("", "memory,races", "init", "all")] == [0, 0, 1, 1]
