"""State with the questions that are asked of it."""
