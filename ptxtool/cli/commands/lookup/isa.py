"""`ptxtool isa [OPCODE...]`: what the instruction table says."""

from typing import Any

import click

from ptxtool import api
from ptxtool.cli.common import Sink, put_json, put_text, report_options


@click.command()
@click.argument("opcodes", metavar="[OPCODE]...", nargs=-1)
@click.option("--markdown", is_flag=True, help="Every instruction as a document (docs/isa.md).")
@report_options
def command(opcodes: tuple[str, ...], markdown: bool, sink: Sink) -> int:
    """The forms of an instruction: modifiers in order, types, operands, PTX version and target.

    OPCODE is a word such as add, or the beginning of one such as cp.async.bulk. Without any, the names of all.
    """
    from ptxtool.isa.table import table
    from ptxtool.report.kernels import instructions

    if markdown:
        if opcodes or sink.as_json:
            raise click.UsageError("--markdown is the whole table; leave out OPCODE and --json")
        put_text(instructions.markdown(table()).rstrip("\n"), sink.output)
        return 0
    names = list(opcodes) or instructions.opcodes(table())
    if sink.as_json:
        data: list[dict[str, Any]] = [
            {"opcode": name, "forms": [instructions.form_data(f) for f in api.isa(name)]} for name in names
        ]
        put_json({"instructions": data}, sink.output)
    elif opcodes:
        blocks = ["\n".join(instructions.form_lines(api.isa(name))) for name in names]
        put_text("\n\n".join(blocks), sink.output)
    else:
        put_text("\n".join(names), sink.output)
    return 0
