"""What the library is about: domains, actions, observations, tasks, checks, and the contracts of worlds and engines."""
