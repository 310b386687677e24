"""The report: one page for a browser."""
