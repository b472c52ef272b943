"""Resident CTAs on a machine, alone, with sharing and with CTA switching; storage overhead."""
