"""Bulk copies, tensor maps, and the state of mbarriers."""
