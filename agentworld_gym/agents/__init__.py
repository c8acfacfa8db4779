"""Agents: policies, teams, planning, and how their runs are watched."""
