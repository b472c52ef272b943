"""Lowering: a kernel's instructions become records and micro-operations. The way in is `lower.lower`."""
