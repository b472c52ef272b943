"""`ptxtool lsp`: the language server, started by an editor."""

import click

from ptxtool.base.diag import error


@click.command()
@click.option(
    "--stdio", is_flag=True, help="Taken for editors that pass it; the server always uses these streams."
)
def command(stdio: bool) -> int:
    """Serve the Language Server Protocol on standard input and output, for editors.

    docs/editor.md has the settings of VS Code, Neovim and Emacs. Needs pygls: pip install 'ptxtool[lsp]'.
    """
    try:
        import pygls  # noqa: F401
    except ImportError:
        help = "pip install 'ptxtool[lsp]'"
        raise error("E502", "the language server needs pygls, which is not installed", help=help) from None
    from ptxtool.lsp.server import serve

    serve()
    return 0
