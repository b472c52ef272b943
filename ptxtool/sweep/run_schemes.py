"""The register schemes of a sweep's runs: those of the table, and the user's own, each loaded and checked once.

A scheme of the user's own has the parts of the one that it is based on: which text it needs and what it stores are
those of that one, on the machine with the settings of its file.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxtool.analysis.occupancy.register_schemes import SCHEMES, own_parts
from ptxtool.analysis.occupancy.scheme_storage import storage_bits
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu
from ptxtool.sweep.run_texts import once

if TYPE_CHECKING:
    from ptxsim.timing.residency.schemes.own import OwnScheme


@dataclass(frozen=True)
class RunScheme:
    """The register scheme of a run.

    `option` is that of the launch, for one of the user's own with the absolute path of its `file`; None: the
    machine's. `built_in` is the scheme of the table that it is or is based on, `gpu` the machine with its settings.
    """

    option: str | None
    built_in: str
    gpu: Gpu = field(repr=False)
    file: str = ""

    @property
    def storage_bits(self) -> int | None:
        """The bits that it adds to an SM; None where they are not known."""
        return storage_bits(self.gpu, self.built_in)


class RunSchemes:
    """Loads schemes, each once."""

    def __init__(self) -> None:
        self._loaded: dict[str, OwnScheme | None] = {}
        self._on_machines: dict[Any, tuple[Gpu, RunScheme]] = {}

    def on(self, name: str, gpu: Gpu) -> RunScheme:
        """The scheme of a name ("": the machine's) on a machine.

        A name of the form FILE.py:FUNCTION runs the code of the file. Raises E501 and E502 for what is wrong with it.
        """
        parts = own_parts(name)
        if parts is None:
            return RunScheme(name or None, name or gpu.switching.scheme, gpu)
        return once(self._on_machines, (name, id(gpu)), lambda: (gpu, self._own(name, *parts, gpu)))[1]

    def _own(self, name: str, file: str, function: str, gpu: Gpu) -> RunScheme:
        from ptxsim.timing.residency.schemes.own import own_scheme

        own = once(self._loaded, name, lambda: own_scheme(name))
        assert own is not None
        built_in = next(each.name for each in SCHEMES if replace(each, name=own.scheme.name) == own.scheme)
        try:
            applied = own.applied(gpu)
        except PtxError as problem:  # a setting has no place of its own
            raise PtxError(replace(each, source=own.source) for each in problem.diagnostics) from None
        path = str(Path(file).resolve())
        return RunScheme(f"{path}:{function}", built_in, applied, path)
