"""numpy expressions of launch files, evaluated without `eval`.

For launch files: an expected result such as `alpha * (a @ b)` or an input made from earlier inputs. The expression
is parsed by Python's own parser and walked; only what is listed here has a meaning: numbers, strings, the given
names, `np.<function of FUNCTIONS>`, the array attributes and methods of ATTRIBUTES and METHODS, arithmetic,
comparisons, indexing, tuples and lists, `a if c else b`. So a launch file from elsewhere can read no file and call no
code; comprehensions, lambdas, f-strings and names with underscores do not exist.

Results have at most `MOST_ELEMENTS` elements and are numbers: Python objects in arrays, which compute with integers of
any size, are refused. Not guarded against: an expression that takes a great deal of time.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxtool.base.phrases import did_you_mean
from ptxtool.formats.expression_size import MOST_ELEMENTS, result_elements


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONSTANTS = _words("pi e inf nan newaxis")
TYPES = _words("float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_ intp uintp")
FUNCTIONS = _words("""
    abs absolute add all allclose any append arange argmax argmin argsort array asarray atleast_1d atleast_2d
    bincount bitwise_and bitwise_count bitwise_not bitwise_or bitwise_xor broadcast_to cbrt ceil clip column_stack
    concatenate convolve cos cosh cross cumprod cumsum diag diff digitize divide divmod dot einsum empty equal exp exp2
    expand_dims expm1 eye flip floor floor_divide fmax fmin fmod full full_like gradient greater greater_equal
    histogram hstack hypot identity indices inner interp invert isfinite isin isinf isnan kron ldexp left_shift less
    less_equal linspace log log10 log1p log2 logical_and logical_not logical_or logical_xor matmul max maximum mean
    median meshgrid min minimum mod moveaxis multiply nan_to_num negative nextafter nonzero not_equal ones ones_like
    outer pad partition power prod ravel reciprocal remainder repeat reshape right_shift rint roll rollaxis rot90
    round searchsorted sign signbit sin sinh sort sqrt square squeeze stack std subtract sum swapaxes take
    take_along_axis tan tanh tensordot tile trace transpose tri tril triu true_divide trunc unique unwrap var vdot
    vstack where zeros zeros_like
    """)
METHODS = _words("""
    all any argmax argmin argsort astype clip copy cumprod cumsum diagonal dot flatten max mean min nonzero prod ravel
    repeat reshape round searchsorted squeeze std sum swapaxes take trace transpose var view
    """)
ATTRIBUTES = _words("T shape size ndim dtype real imag nbytes itemsize")

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_MAX_INT_BITS = 128  # Python integers grow without end: `9**9**9` must not
_NUMBERS = "biufc"


class ExpressionError(Exception):
    """An expression that cannot be used. `column` is the offset of the place in its text."""

    def __init__(self, message: str, column: int = 0, help: str = ""):
        super().__init__(message)
        self.column = column
        self.help = help


@dataclass(frozen=True)
class Expression:
    """A checked expression. `names` are the names it needs."""

    text: str
    tree: ast.expr = field(repr=False)
    names: frozenset[str]

    def evaluate(self, names: Mapping[str, Any]) -> Any:
        """Its value. Raises `ExpressionError` for whatever goes wrong inside."""
        try:
            with np.errstate(all="ignore"):
                return _Evaluator(names).visit(self.tree)
        except ExpressionError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError, MemoryError, AttributeError) as problem:
            text = str(problem) or type(problem).__name__
            raise ExpressionError(
                f"'{short(self.text, 60)}' cannot be computed: {short(text, 200)}"
            ) from problem
        except RecursionError:
            raise ExpressionError(f"'{short(self.text, 60)}' is nested too deeply") from None


def compile_expression(text: str, known: frozenset[str] | set[str]) -> Expression:
    """Parse and check an expression over the names `known`. Raises `ExpressionError`."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        checker = _Checker(known)
        checker.visit(tree)
    except SyntaxError as problem:
        column = max(0, (problem.offset or 1) - 1)
        raise ExpressionError(f"'{short(text, 60)}' is no expression: {problem.msg}", column) from None
    except (ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"'{short(text, 60)}' is no expression") from None
    return Expression(text.strip(), tree, frozenset(checker.names))


def short(value: object, most: int = 40) -> str:
    """What a user has written, as a message quotes it: without its end where it is long."""
    text = str(value)
    return text if len(text) <= most else text[: most - 3] + "..."


def _numpy_name(node: ast.expr) -> str | None:
    """`f` of `np.f`, None for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
        return node.attr
    return None


class _Checker(ast.NodeVisitor):
    """Refuses every node without a meaning here, and collects the names."""

    def __init__(self, known: frozenset[str] | set[str]):
        self.known = known
        self.names: set[str] = set()

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, _ALLOWED):
            what = type(node).__name__.lower()
            column = getattr(node, "col_offset", 0)
            raise ExpressionError(f"'{what}' cannot be used in an expression", column)
        super().generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if (
            not isinstance(node.value, int | float | str)
            and node.value is not None
            and node.value is not Ellipsis
        ):
            raise ExpressionError(
                f"'{short(repr(node.value))}' cannot be used in an expression", node.col_offset
            )
        if isinstance(node.value, int) and node.value.bit_length() > _MAX_INT_BITS:
            raise ExpressionError("a number that is too large", node.col_offset)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id not in self.known:
            known = ", ".join(f"'{n}'" for n in sorted(self.known)) or "none so far"
            help = did_you_mean(node.id, {*self.known, "np"}, f"names are {known}, and 'np'")
            raise ExpressionError(f"unknown name '{node.id}'", node.col_offset, help)
        self.names.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = _numpy_name(node)
        if name is None:
            if node.attr not in ATTRIBUTES | METHODS:
                help = did_you_mean(node.attr, ATTRIBUTES | METHODS)
                raise ExpressionError(
                    f"'.{node.attr}' cannot be used in an expression", node.col_offset, help
                )
            self.visit(node.value)
        elif name not in FUNCTIONS | CONSTANTS | TYPES:
            help = did_you_mean(name, FUNCTIONS | CONSTANTS | TYPES)
            raise ExpressionError(f"'np.{name}' cannot be used in an expression", node.col_offset, help)

    def visit_Call(self, node: ast.Call) -> None:
        name = _numpy_name(node.func)
        is_method = isinstance(node.func, ast.Attribute) and name is None and node.func.attr in METHODS
        if not is_method and (name is None or name not in FUNCTIONS | TYPES):
            self.visit(node.func)  # a better message where the name itself is wrong
            raise ExpressionError(f"'{ast.unparse(node.func)}' cannot be called", node.col_offset)
        if any(keyword.arg is None for keyword in node.keywords):
            raise ExpressionError("'**' cannot be used in an expression", node.col_offset)
        self.generic_visit(node)


_ALLOWED = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.IfExp,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.List,
    ast.Call,
    ast.keyword,
    ast.Load,
    *_BINARY,
    *_UNARY,
    *_COMPARE,
)


class _Evaluator(ast.NodeVisitor):
    """The value of a checked tree."""

    def __init__(self, names: Mapping[str, Any]):
        self.names = names

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def visit_Name(self, node: ast.Name) -> Any:
        return self.names[node.id]

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        name = _numpy_name(node)
        return getattr(np, name) if name is not None else getattr(self.visit(node.value), node.attr)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(left, int) and isinstance(right, int) and isinstance(node.op, ast.Pow | ast.LShift):
            bits = left.bit_length() * right if isinstance(node.op, ast.Pow) else left.bit_length() + right
            if bits > 2 * _MAX_INT_BITS:
                raise _too_large(node)
        if isinstance(left, list | tuple | str) or isinstance(right, list | tuple | str):
            raise ExpressionError(
                f"'{ast.unparse(node)}' computes with a list", node.col_offset, "use np.array(...) around it"
            )
        name = "matmul" if isinstance(node.op, ast.MatMult) else ""
        _check_size(node, result_elements(name, (left, right), {}))
        return _checked(node, _BINARY[type(node.op)](left, right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> Any:
        left = self.visit(node.left)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.visit(right_node)
            _check_size(node, result_elements("", (left, right), {}))
            one = _COMPARE[type(op)](left, right)
            result = one if result is True else np.logical_and(result, one)
            left = right
        return result

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self.visit(node.body if self.visit(node.test) else node.orelse)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        return self.visit(node.value)[self.visit(node.slice)]

    def visit_Slice(self, node: ast.Slice) -> Any:
        return slice(
            *(None if part is None else self.visit(part) for part in (node.lower, node.upper, node.step))
        )

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.visit(item) for item in node.elts)

    def visit_List(self, node: ast.List) -> Any:
        return [self.visit(item) for item in node.elts]

    def visit_Call(self, node: ast.Call) -> Any:
        function = self.visit(node.func)
        arguments = [self.visit(a) for a in node.args]
        keywords = {k.arg: self.visit(k.value) for k in node.keywords if k.arg}
        for argument in (*arguments, *keywords.values()):
            _check_argument(node, argument)
        name = _numpy_name(node.func)
        if name is None and isinstance(node.func, ast.Attribute):  # a method: its array is the first argument
            _check_size(node, result_elements(node.func.attr, (function.__self__, *arguments), keywords))
        elif name is not None:
            _check_size(node, result_elements(name, arguments, keywords))
        return _checked(node, function(*arguments, **keywords))


def _too_large(node: ast.expr) -> ExpressionError:
    return ExpressionError(f"'{_shown(node)}' is too large", node.col_offset)


def _shown(node: ast.expr) -> str:
    return short(ast.unparse(node), 60)


def _check_size(node: ast.expr, elements: int) -> None:
    if elements > MOST_ELEMENTS:
        message = f"'{_shown(node)}' has {elements:.3g} elements; at most {MOST_ELEMENTS} are possible"
        raise ExpressionError(message, node.col_offset, "use smaller arrays, or a .npy file")


def _check_argument(node: ast.expr, value: Any) -> None:
    """Refuse what numpy would make an array of Python objects from: large integers, and names of other types."""
    if isinstance(value, list | tuple):
        for each in value:
            _check_argument(node, each)
    elif isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise _too_large(node)
    elif isinstance(value, str):
        try:
            kind = np.dtype(value).kind
        except (TypeError, ValueError, SyntaxError):  # a mode, or the subscripts of einsum
            return
        if kind == "O":
            raise ExpressionError(
                f"'{_shown(node)}' computes with objects", node.col_offset, "use a type of numbers"
            )


def _checked(node: ast.expr, value: Any) -> Any:
    """A result, which has to be numbers of a bounded size."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind not in _NUMBERS:
        raise ExpressionError(f"'{_shown(node)}' gives no numbers", node.col_offset, "use a type of numbers")
    if isinstance(value, int) and value.bit_length() > _MAX_INT_BITS:
        raise _too_large(node)
    return value
