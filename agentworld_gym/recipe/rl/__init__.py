"""Reinforcement learning of a world model, and what rewards its predictions."""
