"""The intermediate representation: nodes, definitions and uses, verification, edits."""
