"""What was recorded: rows, the pools that they fall into, samples, and how a row is rendered again."""
