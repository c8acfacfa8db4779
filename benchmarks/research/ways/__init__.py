"""Solutions of tasks that follow the instruction and not the expert, by domain; played by `right_ways.py`."""
