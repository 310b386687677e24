"""Whether a change of the code changed what boxwood makes of the columns of a table."""
