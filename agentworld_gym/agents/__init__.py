"""Agents: policies, teams, planning, the sessions that they record, and how their runs are watched."""
