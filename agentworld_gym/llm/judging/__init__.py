"""How a judge scores predictions: the judge itself, its five dimensions, and the rows of AgentWorldBench."""
