"""The language server: what an editor asks about a text; `server.py` speaks the protocol."""
