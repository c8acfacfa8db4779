"""Recordings of worlds: what was asked and answered, written while a world is played and replayed without it."""
