"""The packaged samples: what each computes, and its files."""

from dataclasses import dataclass
from pathlib import Path

from ptxtool.base.resources import resource_dir
from ptxtool.formats.files import LAUNCH_NAME, sample_file, sample_names


@dataclass(frozen=True)
class Sample:
    """A sample. `summary` is the first clause of its launch file; `file` is what its name stands for."""

    name: str
    summary: str
    file: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """Its files, by name."""
        return tuple(sorted(self.file.parent.iterdir()))

    @property
    def other_launches(self) -> tuple[Path, ...]:
        """Its launch files besides the usual one."""
        return tuple(p for p in self.files if p.suffix == ".toml" and p.name != LAUNCH_NAME)


def samples() -> tuple[Sample, ...]:
    """All packaged samples, by name."""
    return tuple(Sample(name, _summary(name), sample_file(name)) for name in sample_names())


def _summary(name: str) -> str:
    text = (resource_dir("samples") / name / LAUNCH_NAME).read_text(encoding="utf-8")
    return text.splitlines()[0].removeprefix("#").strip().split(";")[0].rstrip(".")
