"""What is wrong with a statement the grammar refuses, in words that a person can act on, and where parsing resumes.

The place and the tokens that would have been right come from Lark; this file turns the latter into words, knows the
usual mistakes (a missing semicolon, dot, brace or comment end) and finds the next statement after the error.
"""

import re
from typing import TYPE_CHECKING

from ptxtool.base.diag import Diagnostic, Fix, Note, PtxError, error
from ptxtool.base.phrases import did_you_mean, series
from ptxtool.base.source import Source
from ptxtool.isa.foreign import DIRECTIVES_ELSEWHERE
from ptxtool.parse.grammar import skip, terminals
from ptxtool.parse.hints import Slip, directives, hint
from ptxtool.parse.operands import MAX_DEPTH
from ptxtool.parse.other_formats import other_binary
from ptxtool.parse.specifiers import DECLARABLE, TUNING

if TYPE_CHECKING:
    import lark

# a terminal of the grammar, or Lark's name of a quoted one -> what to call it; those not listed are not worth naming
_WORDS = {
    "OPCODE": "an instruction",
    "LABEL": "a label",
    "NAME": "an operand",
    "IDENTIFIER": "a name",
    "NUMBER": "a number",
    "VERSION_NUMBER": "a version such as '8.6'",
    "STRING": 'a string in "quotes"',
    "DOTTED": "a type or modifier such as '.u32'",
    "SPACE": "a declaration such as '.reg'",
    "TUNING": "a directive such as '.maxntid'",
    "SECTION_DATA": "data such as '.b8'",
    "SECTION_NAME": "a section such as '.debug_info'",
    "ENTRY": "'.entry' or '.func'",
    "INTEGER": "a whole number",
    "FUNCTION_NAME": "'function_name'",
    "VERSION": "a directive",
    "SEMICOLON": "';'",
    "COMMA": "','",
    "COLON": "':'",
    "EQUAL": "'='",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LESSTHAN": "'<'",
    "MORETHAN": "'>'",
}
# where an operand may begin, its brackets and signs need not be listed one by one
_OPERAND_STARTS = {"NUMBER", "STRING", "LPAR", "LSQB", "LBRACE", "DOTTED"}
# statements of files beside those that every function has
_OUTSIDE = re.compile(
    r"\n[ \t]*(?=\.(?:version|target|address_size)\b)"
    r"|\n[ \t]*(?=\.(?:visible|extern|weak|common|entry|func|global|const|section|file|alias)\b)|\n[ \t]*\}"
)
_WORD = re.compile(r"[A-Za-z_$%@.0-9][A-Za-z0-9_$.:]*|\S")
_LAST_BRACE = re.compile(r"\}[ \t\r}]*(?:\n|//|\Z)")
_STATEMENT_START = re.compile(r"[A-Za-z_$%@.][A-Za-z0-9_$.:]*|[@{}]|\Z")
_VERSION = re.compile(r"\.version(?![\w$])[ \t]*([\w.]*)")
_NEXT_STATEMENT = (
    r";|\n(?=[ \t]*(?:@|\}|\.[a-z]|[A-Za-z_$%][A-Za-z0-9_$]*[ \t]*:|[a-z][a-z0-9]*\.[a-z]"
    r"|(?:ret|exit|retp|nop)\b))"
)


def text_start(source: Source) -> int:
    """Where the first statement may begin; raises `PtxError` for what is no text at all."""
    if known := other_binary(source):
        raise PtxError(known)
    binary = source.text.find("\0")
    if binary >= 0:
        message = f"'{source.name}' is not a text file: it holds a NUL byte"
        help = (
            "give a PTX or PTXPlus text file in UTF-8 or ASCII; 'cuobjdump -ptx' extracts PTX from a binary"
        )
        raise error("E103", message, source, binary, binary + 1, help)
    return 1 if source.text.startswith("\ufeff") else 0


def nothing_there(source: Source) -> Diagnostic:
    help = "a PTX file begins with '.version', '.target' and an '.entry'"
    return Diagnostic("E104", f"'{source.name}' holds no statements", source, help=help)


def never_closed(source: Source, brace: int, keyword: str = "", place: int = 0) -> Diagnostic:
    """A block without its `}` at the end of the file, or before the next function."""
    note = Note("this '{' is never closed", source, brace, brace + 1)
    if not keyword:
        message = f"the file ends inside the '{{' of line {source.line(brace)}"
        end = len(source.text)
        return Diagnostic("E102", message, source, end, end, "add the missing '}'", note)
    message = f"'{keyword}' inside a function: the '{{' of line {source.line(brace)} is not closed before it"
    help = "add the missing '}' before this line"
    return Diagnostic("E102", message, source, place, place + 1, help, note)


def unknown_directive(source: Source, start: int, inside: bool) -> Diagnostic:
    match = _WORD.match(source.text, start)
    assert match is not None
    before = re.match(terminals()["LINKAGE"].regex + skip(), source.text[start:])
    if before is not None and (word := _WORD.match(source.text, start + before.end())):
        known = (".entry", ".func", ".global", ".const", ".shared")
        help = did_you_mean(word[0], known, "write '.entry', '.func' or a declaration such as '.global'")
        message = f"unexpected '{word[0]}' after '{match[0]}'"
        return Diagnostic("E101", message, source, word.start(), word.end(), help)
    if match[0] in TUNING:
        help = "move it after the parameters of a function, before the '{'"
        message = f"'{match[0]}' is not at a function's head"
        return Diagnostic("E101", message, source, start, match.end(), help)
    if match[0] in DECLARABLE:
        register = "" if match[0].endswith("ref") else f"'.reg {match[0]}' or "
        help = f"write a state space before it, such as {register}'.global {match[0]}'"
        message = f"'{match[0]}' without a state space"
        return Diagnostic("E101", message, source, start, match.end(), help)
    places = (
        "'.reg', '.shared', '.local', '.param'" if inside else "'.version', '.target', '.global', '.entry'"
    )
    help = did_you_mean(
        match[0],
        directives(),
        f"{places} and their like may stand here",
        meant=DIRECTIVES_ELSEWHERE.get(match[0], ""),
    )
    return Diagnostic("E101", f"unknown directive '{match[0]}'", source, start, match.end(), help)


def misplaced(source: Source, start: int, end: int, inside: bool) -> Diagnostic:
    where = "inside" if inside else "outside"
    text = source.text[start:end]
    if text in (".version", ".target", ".address_size"):
        help = "it belongs to the head of the file, or a '}' is missing before it"
    elif inside and text.startswith((".visible", ".extern", ".weak", ".common")):
        help = f"remove '{text}', or move the declaration before the function"
    elif inside:
        help = "move it before the function, or add a missing '}'"
    else:
        help = "move it into a function's body, or remove a '}' too many"
    return Diagnostic("E101", f"'{text}' {where} a function", source, start, end, help)


def unlabelled(source: Source, start: int, end: int) -> Diagnostic:
    word = source.text[start:end]
    help = f"write 'name: {word} ...', and use the name in the instruction"
    return Diagnostic("E101", f"'{word}' needs a label before it", source, start, end, help)


def headless(source: Source, semicolon: int, brace: int, has_directives: bool) -> Diagnostic:
    """A body after a head that a semicolon has ended."""
    place = semicolon if has_directives else brace
    note = None if has_directives else Note("the head ends here", source, semicolon, semicolon + 1)
    message = f"unexpected '{source.text[place]}': a ';' stands between the head and its body"
    return Diagnostic("E101", message, source, place, place + 1, "remove the ';' before the '{'", note)


def too_deep(source: Source, start: int, end: int) -> Diagnostic:
    message = f"an operand nests more than {MAX_DEPTH} levels deep"
    return Diagnostic("E101", message, source, start, min(end, start + 1), "split the expression")


def resume(text: str, position: int, inside: bool = True) -> int:
    """The beginning of the next statement after an error; outside functions the next directive, or after a brace."""
    # not compiled before there is an error
    match = (re.compile(_NEXT_STATEMENT) if inside else _OUTSIDE).search(text, position)
    return match.end() if match else len(text)


def syntax_error(
    source: Source, found: "lark.UnexpectedInput", start: int, end: int, inside: bool
) -> tuple[Diagnostic, int]:
    """The diagnostic for a statement that Lark refused, and where to read on."""
    text = source.text
    place, expected = _place(found, end), _expected(found)
    previous = _end_of_previous(text, start, place)
    if text.startswith("/*", place):
        message, end = "this comment is never closed", len(text)
        return Diagnostic("E102", message, source, place, place + 2, "add '*/'"), end
    if text.startswith('"', place) and "STRING" in expected:
        line_end = text.find("\n", place)
        stop = len(text) if line_end < 0 else line_end
        message = "this string is not closed on its line"
        return Diagnostic("E102", message, source, place, stop, "add the closing '\"'"), resume(text, stop)
    if (head := _VERSION.match(text, start)) and place >= head.end():
        message = f"'{head[1]}' is no version" if head[1] else "'.version' without a number"
        span = head.span(1) if head[1] else (start, head.end())
        return Diagnostic("E101", message, source, *span, "write two numbers, such as '.version 8.6'"), place
    if (
        place > start
        and "SEMICOLON" in expected
        and "TUNING" not in expected
        and ("\n" in text[previous:place] or _LAST_BRACE.match(text, place))
        and (match := _STATEMENT_START.match(text, place))
    ):
        message = f"missing ';' before '{match[0]}'"
        beginning = " ".join(text[start:previous].split())[:40]
        help = f"end '{beginning}' on line {source.line(previous)} with ';'"
        note = Note("the ';' belongs here", source, previous, previous + 1)
        fix = Fix(previous, previous, ";")
        return Diagnostic("E101", message, source, place, match.end(), help, note, fix), place
    if place >= len(text):
        wanted = _human(expected)
        message = "the statement is not finished" + (f": expected {wanted}" if wanted else "")
        otherwise = "the text ends here: the file may be cut off"
        help = "end the statement with ';'" if "SEMICOLON" in expected else otherwise
        return Diagnostic("E102", message, source, max(start, previous - 1), previous, help), end
    match = _WORD.match(text, place)
    word = match[0] if match else text[place]
    wanted = _human(expected)
    if word in ("$", "%", ".", "@", "-", "+", "!") and place + len(word) == len(text.rstrip()):
        help = "the text ends here: the file may be cut off"
        return Diagnostic("E102", "the statement is not finished", source, place, place + 1, help), len(text)
    if not inside and place == start:
        message = f"unexpected '{word}' outside a function"
        help = "instructions, labels and blocks belong into the body of an '.entry' or '.func'"
        if word == "}":
            message, help = "this '}' closes nothing", "remove it, or add the '{' it should close"
            return Diagnostic("E101", message, source, place, place + 1, help), place + 1
        after = resume(text, place, inside)
        return Diagnostic("E101", message, source, place, place + len(word), help), after
    found_hint = hint(Slip(text, start, previous, place, word, frozenset(expected)))
    message = found_hint.message or f"unexpected '{word}'" + (f", expected {wanted}" if wanted else "")
    opened = found_hint.opened
    opening = f"this '{text[opened]}' is not closed"
    beside = Note(opening, source, opened, opened + 1) if opened >= 0 else None
    span = (found_hint.start, found_hint.end)
    missing = Fix(previous, previous, found_hint.insert) if found_hint.insert else None
    return Diagnostic("E101", message, source, *span, found_hint.help, beside, missing), resume(text, place)


def _place(found: "lark.UnexpectedInput", end: int) -> int:
    import lark

    if isinstance(found, lark.UnexpectedToken) and found.token.type == "$END":
        return end
    return end if found.pos_in_stream is None else min(found.pos_in_stream, end)


def _expected(found: "lark.UnexpectedInput") -> set[str]:
    """The terminals that would have been right."""
    import lark

    if isinstance(found, lark.UnexpectedToken):
        return found.accepts or set()
    if isinstance(found, lark.UnexpectedCharacters):
        return set(found.allowed or ()) - {"SPACING", "COMMENT"}
    return set()


def _human(expected: set[str]) -> str:
    if "OPCODE" in expected:
        expected = expected - {"DOTTED"}
    if "TUNING" in expected:
        expected = (expected - {"SPACE"}) | {"LBRACE", "SEMICOLON"}
    if "NAME" in expected:
        expected = expected - _OPERAND_STARTS
    if "COMMA" in expected:
        expected = expected - {"LPAR", "LSQB"} - ({"EQUAL"} if "RBRACE" in expected else set())
    words = [word for terminal, word in _WORDS.items() if terminal in expected]
    return series(words) if 0 < len(words) <= 5 else ""


def _end_of_previous(text: str, start: int, place: int) -> int:
    """The end of the last token before a place."""
    position = start
    skipping = re.compile(skip())
    while True:
        skipped = skipping.match(text, position, place)
        begin = skipped.end() if skipped else position
        token = _WORD.match(text, begin, place)
        if token is None:
            return position
        position = token.end()
