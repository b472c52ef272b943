"""`python -m ptxtool`: the command, where its script is not on the PATH."""

from ptxtool.cli.main import main

if __name__ == "__main__":
    main(prog_name="ptxtool")
