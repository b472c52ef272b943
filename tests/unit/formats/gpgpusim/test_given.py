"""The options of a GPGPU-Sim file, sorted: used, not modelled, not used, unknown; which version they are of."""

from pathlib import Path

import pytest
from gpgpusim_files import OLD, changed, read_config, write_config

from ptxtool.base.source import Source
from ptxtool.formats.gpgpusim.given import Given, sort_options
from ptxtool.formats.gpgpusim.text import Setting
from ptxtool.formats.gpu import load_gpu


def test_options_that_are_not_used_are_listed_once_with_their_lines(tmp_path: Path) -> None:
    path = write_config(tmp_path, load_gpu(OLD), 3)
    path.write_text("-gpgpu_ptx_sim_mode 0\n-visualizer_enabled 0\n" + path.read_text())
    _, (unused,) = read_config(path)
    assert unused.line == 1
    assert unused.message == "2 options are not used: -gpgpu_ptx_sim_mode (1), -visualizer_enabled (2)"


def test_what_is_not_modelled_is_reported_at_its_place(tmp_path: Path) -> None:
    _, reported = changed(
        tmp_path,
        gpgpu_num_sp_unit="1",
        gpgpu_cache__dl1="S:32:128:4,F:L:s:N:P,A:32:8,8",
    )
    shown = sorted((d.message, d.help) for d in reported)
    assert shown == [
        (
            "'-gpgpu_cache:dl1': a sectored L1 is not modelled",
            "here a miss brings the whole line; it matters where a warp uses less than the line",
        ),
        (
            "'-gpgpu_cache:dl1': allocation 's' is not modelled",
            "here it is 'm'",
        ),
        ("'-gpgpu_cache:dl1': replacement 'F' is not modelled", "here it is 'L'"),
        ("'-gpgpu_num_sp_unit' is not known, and not used", "did you mean '-gpgpu_num_sp_units'?"),
    ]
    assert all(d.line for d in reported)


def given(**options: str) -> Given:
    options = {"gpgpu_cache:dl2_texture_only": "0", **options}  # its default is refused
    text = "".join(f"-{name} {value}\n" for name, value in options.items())
    source = Source("x.config", text)
    settings: list[Setting] = []
    for name, value in options.items():
        start = text.index(f"-{name} ")
        settings.append(
            Setting(name, value, source, start, start + len(name) + 2, start + len(name) + 2 + len(value))
        )
    return sort_options(Path("x.config"), source, tuple(settings))


@pytest.mark.parametrize(
    ("name", "value", "version"),
    [
        ("gpgpu_n_clusters", "2", 3),
        ("rop_latency", "100", 3),
        ("gpgpu_l2_rop_latency", "100", 4),
        ("gpgpu_num_dp_units", "4", 4),
        ("reg_file_port_throughput", "2", 4),
        ("gpgpu_coalesce_arch", "13", 3),
        ("gpgpu_coalesce_arch", "20", 4),
        ("gpgpu_pipeline_widths", "1,1,1,1,1,1,1,1,1", 3),
        ("gpgpu_pipeline_widths", "1,1,1,1,1,1,1,1,1,1,1", 4),
        ("gpgpu_cache:dl1", "32:128:4,L:L:m:N:L,A:32:8,8", 3),
        ("gpgpu_cache:dl1", "S:32:128:4,L:L:m:N:L,A:32:8,8", 4),
        ("gpgpu_cache:dl1", "N:32:128:4,L:L:m:N:L,S:32:8,8", 4),
    ],
)
def test_the_version_of_a_file(name: str, value: str, version: int) -> None:
    found = given(**{name: value})
    assert found.version == version
    assert found.base == {3: "tesla-c2050", 4: "gpgpusim42-c2050"}[version]


def test_an_option_of_an_older_name_is_the_same() -> None:
    found = given(rop_latency="100")
    assert found.whole("gpgpu_l2_rop_latency") == 100


def test_an_option_that_a_version_does_not_have_sets_nothing() -> None:
    found = given(gpgpu_n_clusters="2")
    found.take("fetch.per_cycle", "gpgpu_inst_fetch_throughput")
    found.take("sm.count", "gpgpu_n_clusters")
    assert found.tables == {"sm": {"count": 2}}
    assert list(found.places) == ["sm.count"]
    assert not found.is_on("gpgpu_perf_sim_memcpy")
