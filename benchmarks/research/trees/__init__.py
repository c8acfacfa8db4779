"""The parts of `two_trees.py`: what each tree does in a process of its own, and how the results are compared.

What runs inside a tree (`worker` and what it imports) reaches the package only through what does not move: its public
names, the ids of Gymnasium and the command line.
"""
