"""The words of a `gpgpusim.config`: options, values, quotes, comments, and files that it names."""

from pathlib import Path

from gpgpusim_files import OLD, read_config, write_config

from ptxtool.formats.gpgpusim.text import read_network, read_settings
from ptxtool.formats.gpu import load_gpu


def test_words_quotes_comments_and_switches(tmp_path: Path) -> None:
    (tmp_path / "more.config").write_text("-gpgpu_n_clusters 3\n")
    path = tmp_path / "words"
    path.write_text(
        "-visualizer_enabled -gpgpu_n_clusters 2 # two\n-config more.config\n"
        '-gpgpu_dram_timing_opt "a=1:\n   b=2" -x -1\n'
    )
    found = [(s.name, s.value) for s in read_settings(path)]
    assert found == [
        ("visualizer_enabled", "1"),
        ("gpgpu_n_clusters", "2"),
        ("gpgpu_n_clusters", "3"),
        ("gpgpu_dram_timing_opt", "a=1: b=2"),
        ("x", "-1"),
    ]


def test_what_is_given_last_counts(tmp_path: Path) -> None:
    path = write_config(tmp_path, load_gpu(OLD), 3)
    path.write_text(path.read_text() + "-gpgpu_n_clusters 7\n")
    assert read_config(path)[0].sm.count == 7


def test_a_setting_keeps_its_places(tmp_path: Path) -> None:
    path = tmp_path / "x.config"
    path.write_text("# first\n-b  12 # more\n")
    (found,) = read_settings(path)
    text = path.read_text()
    assert (text[found.start : found.end], text[found.value_start : found.end]) == ("-b  12", "12")
    assert found.line == 2


def test_lines_of_the_network_file(tmp_path: Path) -> None:
    path = tmp_path / "network.icnt"
    path.write_text("// a = 1;\n k = 28 ; // k = 3;\nno semicolon = 4\nn = a b;\n")
    assert {key: s.value for key, s in read_network(path).items()} == {"k": "28", "n": "a b"}
