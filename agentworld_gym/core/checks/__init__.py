"""What pays the agent: checks, probes, the rubric judge, and what an episode changed beside its task."""
