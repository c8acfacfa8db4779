"""What this process asks of its machine: signals, worker processes, open files and number formats."""
