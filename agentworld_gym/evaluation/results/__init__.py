"""The results of `agentworld eval` as typed documents: of the benchmark, of fidelity, and of transfer."""
