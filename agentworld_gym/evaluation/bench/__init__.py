"""How a world model does on the rows of a benchmark: requests in flight, records on disk, and their averages."""
