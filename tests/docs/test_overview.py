"""README's picture is what `benchmarks/draw_overview.py` draws today; `pytest --bless` draws it again."""

import pytest
from scripts import BENCHMARKS, module_of


@pytest.mark.slow
def test_the_picture(request: pytest.FixtureRequest) -> None:
    script = module_of(BENCHMARKS / "draw_overview.py")
    now = script.picture()
    if request.config.getoption("bless"):
        script.PICTURE.write_text(now, encoding="utf-8")
    assert script.PICTURE.read_text(encoding="utf-8") == now
