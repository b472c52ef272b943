"""numba's compiler passes, without the work that no function of this package needs.

After each pass numba derives anew which variables are alive where, for generators and for its object mode, checks the
pass, and writes down all flags for listeners. Of calls of built-in functions it tries all candidates, at each call and
in each round of type inference: here once for the same types. Together that was a third of its time.

Imported when something is compiled (numba_compiler.py).
"""

from typing import Any

from numba.core import postproc, transforms
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, _pass_registry
from numba.core.typed_passes import IRLegalization, NopythonRewrites
from numba.core.types.functions import BaseFunction

_LEFT_OUT = (NopythonRewrites, IRLegalization)
"""Array expressions and `print`; ends of variables' lives, for reference counts. Our functions have none of these."""

_post_process = postproc.PostProcessor.run
_call_type = BaseFunction.get_call_type
_known: dict[tuple[int, ...], Any] = {}
"""Signatures of calls, by numba's numbers of the function's type and of those of its arguments."""


class Passes(PassManager):  # type: ignore[misc]
    """The passes of a function, without checks between them."""

    def __init__(self, state: Any):
        made = DefaultPassBuilder.define_nopython_pipeline(state)
        super().__init__(made.pipeline_name)
        self.passes = [each for each in made.passes if each[0] not in _LEFT_OUT]

    def _runPass(self, index: int, each: Any, state: Any) -> None:
        each.analysis = self._analysis
        changed = each.run_initialization(state) | each.run_pass(state) | each.run_finalizer(state)
        if changed and _pass_registry.get(type(each)).mutates_CFG:
            postproc.PostProcessor(state.func_ir).run()


def post_process(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """`PostProcessor.run`, without what only generators and numba's object mode ask for."""
    ir = processor.func_ir
    if ir.is_generator:
        _post_process(processor, emit_dels, extend_lifetimes)
        return
    ir.blocks = transforms.canonicalize_cfg(ir.blocks)
    ir.variable_lifetime = postproc.VariableLifetime(ir.blocks)
    ir.generator_info = None
    if emit_dels:  # a function of numba's or of the user's that ours calls
        processor._insert_var_dels(extend_lifetimes=extend_lifetimes)


def call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    """`BaseFunction.get_call_type`, once for the same types."""
    if keywords:
        return _call_type(function, context, arguments, keywords)
    codes = function._code, *(argument._code for argument in arguments)
    if codes not in _known:
        _known[codes] = _call_type(function, context, arguments, keywords)
    return _known[codes]


def refresh_registries(context: Any) -> None:
    """`CPUContext.load_additional_registries`, ten times a function, once they are loaded."""
    for registry in tuple(context._registries):
        context.install_registry(registry)


def plain(_: Any, message: str, *__: Any, **___: Any) -> str:
    """A message without colours: most are of candidates that do not fit, and no user sees them."""
    return message
