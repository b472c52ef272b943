"""Calls that stop the optimiser: one compiled function reached by its symbol instead of being linked into its callers.

numba links a callee's whole code into every caller and optimises it again there, level after level: with the lane
operations below the cycle loop that would cost as much compile time once more per level. Across a boundary a
function is compiled once, its address registered under a name of our own, and callers (which numba caches with the
name, not the address) declare that name. The module that defines the boundary must be imported before such a caller is
loaded, which holds because the caller imports it. What takes records of SMs has a second signature, for wide ones,
which only a run on these compiles.
"""

from functools import cache
from typing import Any

from numba.extending import intrinsic

from ptxsim.base.jit import JIT_DISABLED, njit

_for_wide: list[tuple[str, Any, Any]] = []


def boundary(name: str, function: Any, wide: Any = None) -> Any:
    """`function`, compiled with one explicit signature, as an intrinsic for other compiled functions.

    `wide`: its signature for calls whose first argument is a wide record; `compile_wide` compiles it for these.
    """
    if JIT_DISABLED:
        return function
    function.compile_declared()
    (arguments,) = function.overloads
    symbol = f"ptxsim_{name}"
    _define(symbol, function)
    narrow_call = wide_call = _call(symbol, function.overloads[arguments].signature)
    if wide is not None:
        wide_call = _call(f"{symbol}_wide", wide)
        _for_wide.append((f"{symbol}_wide", function.py_func, wide))

    def choose(first: Any) -> Any:
        return wide_call if wide is not None and first == wide.args[0] else narrow_call

    # numba reads an intrinsic's arguments from its Python signature
    names = ", ".join(f"a{i}" for i in range(len(arguments)))
    scope: dict[str, Any] = {"choose": choose}
    exec(f"def call(typing_context, {names}):\n    return choose(a0)\n", scope)
    return intrinsic(scope["call"])


@cache
def compile_wide() -> None:
    """Compile the functions that have a signature for wide records: before a loop over these is compiled or loaded."""
    for symbol, function, signature in _for_wide:
        compiled = njit(signature)(function)
        compiled.compile_declared()
        _define(symbol, compiled)


_defined: list[Any] = []


def _define(symbol: str, function: Any) -> None:
    """Give the machine code of a function with one signature a name."""
    from llvmlite import binding

    (compiled,) = function.overloads.values()
    binding.add_symbol(symbol, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
    _defined.append(function)  # its code stays where it is


def _call(symbol: str, signature: Any) -> Any:
    """The type of a call, and the function that writes it."""
    from llvmlite import ir

    def emit(context: Any, builder: Any, _: Any, values: Any) -> Any:
        convention = context.call_conv
        function_type = convention.get_function_type(signature.return_type, signature.args)
        target = builder.module.globals.get(symbol)
        if target is None:
            target = ir.Function(builder.module, function_type, symbol)
        # as numba calls, but without clearing the result before or testing for an error after: our functions raise none
        with builder.goto_entry_block():
            result, error = (builder.alloca(parameter.pointee) for parameter in function_type.args[:2])
        packed = convention._get_arg_packer(signature.args).as_arguments(builder, values)
        builder.call(target, [result, error, *packed])
        return context.get_returned_value(builder, signature.return_type, builder.load(result))

    return signature, emit
