"""Pictures of explanations: computed as plain data, drawn by matplotlib."""
