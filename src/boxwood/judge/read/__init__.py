"""Readers: one file for each kind of source; nothing that is read is ever run."""
