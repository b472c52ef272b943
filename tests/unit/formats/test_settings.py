"""Single keys of a machine, changed by hand: values of every kind, and what is reported of a wrong setting."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

GPU = load_gpu("tesla-c2050")


def test_keys_of_every_kind() -> None:
    gpu = with_settings(
        GPU,
        [
            "sm.count=3",
            "pipeline.bank_conflicts=false",
            "pipeline.first_path=taken",
            'dispatch.idle_sms = "asleep"',
            "icnt.unloaded_cycles=[1, 2]",
            "latency.add.int.latency=9",
        ],
    )
    assert (gpu.sm.count, gpu.pipeline.bank_conflicts, gpu.pipeline.first_path) == (3, False, "taken")
    assert (gpu.dispatch.idle_sms, gpu.icnt.unloaded_cycles) == ("asleep", (1, 2))
    assert (gpu.latency["add"]["int"].latency, gpu.latency["add"]["int"].unit) == (9, "SP")
    assert gpu.latency["add"]["fp32"] == GPU.latency["add"]["fp32"]
    assert gpu.l2 == GPU.l2


def test_the_name_says_what_was_changed() -> None:
    assert with_settings(GPU, []) is GPU
    assert with_settings(GPU, ["sm.count=3", "sm.ctas=4"]).name == "tesla-c2050 with sm.count=3, sm.ctas=4"


def test_the_last_one_counts() -> None:
    gpu = with_settings(GPU, ["sm.count=3", "icnt.head_of_line=false", "sm.count=5"])
    assert gpu.sm.count == 5
    assert gpu.name == "tesla-c2050 with icnt.head_of_line=false, sm.count=5"


@pytest.mark.parametrize(
    ("setting", "reported", "advice"),
    [
        ("sm.count", "setting 'sm.count' is no KEY=VALUE", "such as"),
        ("=3", "is no KEY=VALUE", "such as"),
        ("sm.cout=3", "no key 'cout'", "did you mean 'count'?"),
        ("sm.zzz=3", "no key 'zzz'", "there are count, warp_size"),
        ("name=x", "no key 'name'", ""),
        ('ldst.units=["ld"]', "no key 'units'", ""),
        ("sm=3", "'sm' is a table", "sm.count"),
        ("latency.add=3", "'add' is a table", "add.int"),
        ("latency.adds.int.latency=3", "no key 'adds'", "did you mean 'add'?"),
        ("sm.count.x=3", "'count' has no keys", "count=VALUE"),
        ("pipeline.first_path=\udcff", "surrogates not allowed", "tesla-c2050.toml"),
        ("sm.count=0", "expected 'int' >= 1", "tesla-c2050.toml"),
        ("sm.count=many", "expected 'int', got 'str'", "tesla-c2050.toml"),
        ("pipeline.bank_conflicts=1", "expected 'bool', got 'int'", "tesla-c2050.toml"),
        ("pipeline.first_path=upper", "invalid enum value 'upper'", "tesla-c2050.toml"),
    ],
)
def test_a_wrong_setting_is_reported(setting: str, reported: str, advice: str) -> None:
    with pytest.raises(PtxError) as caught:
        with_settings(GPU, [setting])
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E502"
    assert reported in diagnostic.message
    assert advice in diagnostic.help
