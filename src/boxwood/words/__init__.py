"""Rules, figures and measurements in words."""
