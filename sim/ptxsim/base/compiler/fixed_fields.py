"""Records some of whose fields are constants to the compiler.

Where a function's argument is of such a type, `record.field` is a number, and numba drops the branches that it decides
before anything in them is given a type: what only they call is not compiled. In memory it is the whole record, and a
call by symbol, or of a function by address, takes it as that.

Imported when something is compiled (numba_compiler.py).
"""

from typing import Any

from numba import types
from numba.core import ir
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.datamodel import models, register_default
from numba.core.typeconv import Conversion
from numba.core.untyped_passes import IRProcessing
from numba.extending import lower_cast

from ptxsim.base.compiler.compiler_passes import Passes


class FixedRecord(types.Record):  # type: ignore[misc]
    """numba's type of a record of type `whole`, with the values of its constant fields."""

    def __init__(self, whole: Any, values: tuple[tuple[str, int], ...]):
        self.whole, self.values = whole, dict(values)
        fields = [
            (name, {"type": field.type, "offset": field.offset, "alignment": field.alignment})
            for name, field in whole.fields.items()
        ]
        # one field more than the whole record has, or numba would take that for a record of this type
        fields.append((f"{values}", {"type": types.int8, "offset": 0, "alignment": 1}))
        super().__init__(fields, whole.size, whole.aligned)

    def can_convert_to(self, typing_context: Any, other: Any) -> Any:
        return Conversion.safe if other == self.whole else None


register_default(FixedRecord)(models.RecordModel)


@lower_cast(FixedRecord, types.Record)
def _as_whole(context: Any, builder: Any, from_: Any, to: Any, value: Any) -> Any:
    return value


@register_pass(mutates_CFG=False, analysis_only=False)
class _FixFields(FunctionPass):  # type: ignore[misc]
    """Put constants in the place of the fields."""

    _name = "fix_fields"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        values = {
            name: type_.values
            for name, type_ in zip(state.func_id.arg_names, state.args, strict=False)
            if isinstance(type_, FixedRecord)
        }
        changed = False
        for block in state.func_ir.blocks.values() if values else ():
            for statement in block.find_insts(ir.Assign):
                read = statement.value
                if isinstance(read, ir.Expr) and read.op == "getattr":
                    value = values.get(read.value.name, {}).get(read.attr)
                    if value is not None:
                        statement.value = ir.Const(value, statement.loc)
                        state.func_ir._definitions[statement.target.name] = [statement.value]
                        changed = True
        return changed


class Compiler(CompilerBase):  # type: ignore[misc]
    """numba's compiler, which knows of such records."""

    def define_pipelines(self) -> list[Any]:
        passes = Passes(self.state)
        passes.add_pass_after(_FixFields, IRProcessing)
        passes.finalize()
        return [passes]
