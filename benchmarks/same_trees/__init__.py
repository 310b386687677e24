"""Trees before and after a change; see `__main__.py`."""
