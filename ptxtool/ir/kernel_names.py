"""Finding the kernel that a name means: the name in the text, or the C++ name. For commands, files and programs."""

from collections.abc import Iterable

from ptxtool.base.diag import PtxError, error
from ptxtool.base.mangled import cpp_name, source_name, symbols_of
from ptxtool.base.phrases import did_you_mean
from ptxtool.ir.nodes import Function, Module


def kernel_named(module: Module, name: str | None) -> Function:
    """The kernel (or other function with a body) of that name; for None the only kernel.

    Raises E205, which lists the kernels by their C++ names.
    """
    kernels = module.kernels
    if name is None:
        if len(kernels) == 1:
            return next(iter(kernels.values()))
        listed = f"{_listed(module)}; name one (--kernel NAME)" if kernels else _listed(module)
        raise _not_found(module, f"{'several kernels' if kernels else 'no kernel'} in", listed)
    found = module.functions.get(name)
    if found is None:
        meant = symbols_of(name, kernels)
        if len(meant) > 1:
            choices = "; ".join(f"'{cpp_name(symbol)}'" for symbol in meant)
            raise _not_found(
                module, f"'{name}' means {len(meant)} kernels in", f"give more of the name: {choices}"
            )
        found = kernels[meant[0]] if meant else None
    if found is None or found.body is None:
        guess = did_you_mean(name, kernels) or did_you_mean(name, map(source_name, kernels))
        what = "without a body" if found else "not"
        raise _not_found(module, f"kernel '{name}' is {what} in", f"{guess} {_listed(module)}".strip())
    return found


def listed(symbols: Iterable[str]) -> str:
    """Kernels by their C++ names."""
    names = list(map(cpp_name, symbols))
    return ("; " if any("," in name for name in names) else ", ").join(names)


def _listed(module: Module) -> str:
    """What the file has."""
    if module.kernels:
        return f"its kernels are {listed(module.kernels)}"
    others = [f.name for f in module.functions.values() if f.body is not None]
    more = f"; a function can be named instead: {', '.join(others)}" if others else ""
    return f"it has no kernels (.entry){more}"


def _not_found(module: Module, what: str, help: str) -> PtxError:
    """E205 at the first kernel."""
    first = next(iter(module.kernels.values()), None)
    start, end = (first.start, first.body_start) if first else (0, 0)
    return error("E205", f"{what} '{module.source.name}'", module.source, start, end, help)
