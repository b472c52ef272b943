"""Registers of a pool that warps share: RegMutex."""
