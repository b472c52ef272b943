"""Names in operands, and where a word stands in the text: operands keep no offsets."""

from collections.abc import Sequence

from ptxtool.base.diag import Diagnostic, Note
from ptxtool.base.source import Source
from ptxtool.ir import nodes


def names(node: nodes.Operand) -> Sequence[nodes.Name]:
    """The names in an operand, in textual order; the symbol of `s[...]` comes as a name of its own."""
    found: list[nodes.Name] = []
    pending: list[nodes.Operand] = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, nodes.Name):
            found.append(item)
        elif type(item) is not nodes.Immediate:
            if isinstance(item, nodes.Memory) and item.symbol:
                found.append(nodes.Name(item.symbol))
            pending += operand_parts(item)[::-1]
    return found


def operand_parts(node: nodes.Operand) -> Sequence[nodes.Operand]:
    """The operands inside an operand, in textual order."""
    if isinstance(node, nodes.Memory):
        return [*(part for part in (node.base, node.offset) if part is not None), *node.coordinates]
    if isinstance(node, nodes.Vector | nodes.Group):
        return node.items
    if isinstance(node, nodes.Unary | nodes.Cast):
        return (node.operand,)
    if isinstance(node, nodes.Binary):  # `filter_mode = nearest` has none: these are words of the language
        return (node.left, node.right) if node.operator != "=" else ()
    if isinstance(node, nodes.Dual):
        return (node.first, node.second)
    if isinstance(node, nodes.Conditional):
        return (node.condition, node.then, node.otherwise)
    return node.arguments if isinstance(node, nodes.Apply) else ()


def memory_in(node: nodes.Operand) -> nodes.Memory | None:
    """The memory operand that an operand is: PTXPlus may negate it where it is a source."""
    while isinstance(node, nodes.Unary | nodes.Cast):
        node = node.operand
    return node if isinstance(node, nodes.Memory) else None


def span_of_word(text: str, start: int, end: int, word: str) -> tuple[int, int]:
    """The span of a word within a statement; the statement's own where it is not written there."""
    at = text.find(word, start, end) if word else -1
    while at >= 0:
        after = at + len(word)
        if (word[0] == "%" or not _is_word(text[at - 1 : at])) and not _is_word(text[after : after + 1]):
            return at, after
        at = text.find(word, at + 1, end)
    stem = word.rstrip("0123456789")  # one of `name<count>`
    at = text.find(stem, start, end) if stem else -1
    return (at, at + len(stem)) if at >= 0 else (start, end)


def diagnostic_at(
    code: str,
    message: str,
    source: Source,
    node: nodes.Statement | nodes.Function,
    word: str,
    help: str = "",
    note: Note | None = None,
) -> Diagnostic:
    """A diagnostic at a word of a statement or of a function's head."""
    span = span_of_word(source.text, node.start, _end(node), word)
    return Diagnostic(code, message, source, *span, help, note)


def note_at(message: str, source: Source, node: nodes.Statement | nodes.Function, word: str) -> Note:
    """A note at a word of a statement or of a function's head."""
    return Note(message, source, *span_of_word(source.text, node.start, _end(node), word))


def _end(node: nodes.Statement | nodes.Function) -> int:
    return node.body_start if isinstance(node, nodes.Function) else node.end


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "$", "%")
