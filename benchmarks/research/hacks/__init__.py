"""Ways to win a task without its work, by kind; played by `reward_hacks.py`."""
