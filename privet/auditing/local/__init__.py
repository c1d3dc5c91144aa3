"""Audits of mechanisms and of collections on devices: exact enumeration, drawn reports, leaks past the mechanisms."""
