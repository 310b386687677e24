"""The forms in which an explanation is written."""
