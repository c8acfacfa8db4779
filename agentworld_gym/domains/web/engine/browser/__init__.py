"""The simulated browser: tabs and history, what clicks and keys do, and the scripts that it understands."""
