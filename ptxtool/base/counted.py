"""Numbers of things in messages and reports."""


def counted(n: object, noun: str, plural: str = "") -> str:
    """A number with its noun, such as "1 register" and "0 registers"; `n` may be a text, as it is to be shown."""
    return f"{n} {noun if str(n) == '1' else plural or noun + 's'}"
