"""The command line: `main` and one file per command. Nothing is computed here."""
