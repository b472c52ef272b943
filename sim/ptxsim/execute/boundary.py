"""Calls that stop the optimiser: one compiled function reached by its symbol instead of being linked into its callers.

numba links a callee's whole code into every caller and optimises it again there, level after level: with the lane
operations below the cycle loop that would cost as much compile time once more per level. Across a boundary a
function is compiled once, its address registered under a name of our own, and callers (which numba caches with the
name, not the address) declare that name. The module that defines the boundary must be imported before such a caller is
loaded, which holds because the caller imports it.
"""

from typing import Any

from numba.extending import intrinsic

from ptxsim.base.jit import JIT_DISABLED


def boundary(name: str, function: Any) -> Any:
    """`function`, compiled with one explicit signature, as an intrinsic for other compiled functions."""
    if JIT_DISABLED:
        return function
    from llvmlite import binding, ir

    (arguments,) = function.overloads
    compiled = function.overloads[arguments]
    symbol = f"ptxsim_{name}"
    binding.add_symbol(symbol, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
    return_type = compiled.signature.return_type

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention = context.call_conv
        function_type = convention.get_function_type(return_type, arguments)
        target = builder.module.globals.get(symbol)
        if target is None:
            target = ir.Function(builder.module, function_type, symbol)
        # as numba calls, but without clearing the result before or testing for an error after: our functions raise none
        with builder.goto_entry_block():
            result, error = (builder.alloca(parameter.pointee) for parameter in function_type.args[:2])
        packed = convention._get_arg_packer(arguments).as_arguments(builder, values)
        builder.call(target, [result, error, *packed])
        return context.get_returned_value(builder, return_type, builder.load(result))

    typed = return_type(*arguments)
    # numba reads an intrinsic's arguments from its Python signature
    names = ", ".join(f"a{i}" for i in range(len(arguments)))
    scope: dict[str, Any] = {"typed": typed, "emit": emit}
    exec(f"def call(typing_context, {names}):\n    return typed, emit\n", scope)
    return intrinsic(scope["call"])
