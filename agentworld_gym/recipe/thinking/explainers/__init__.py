"""The parts of the engines' thinking, domain by domain: what decides an observation, and how a trace says so."""
