"""Remedies: which of a signature's fixes apply here, and edits of installed code."""
