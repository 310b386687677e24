"""What a column of a table is, and whether rules may use it: `rules.RULES` decides, of what is `seen.Seen` of it."""
