"""What was recorded: rows, the pools that they fall into, how a row is rendered again, and samples and their tokens."""
