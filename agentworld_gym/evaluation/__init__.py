"""How good a world model or an agent is; the viewer of traces, the playground, the check of live worlds, the cost."""
