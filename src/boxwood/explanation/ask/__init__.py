"""What `explain` is asked, checked, and answered step by step."""
