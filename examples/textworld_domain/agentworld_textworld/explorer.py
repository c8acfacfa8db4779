"""The explorer: it looks around, and tries what can be done with what it has read of."""

from __future__ import annotations

from agentworld_gym.agents.policies.exploring import Explorer

ALONE = ("look", "inventory", "go north", "go south", "go east", "go west")
VERBS = ("examine", "take", "drop", "open", "close", "eat", "unlock", "insert")


class Wanderer(Explorer):
    """Tries commands with the things that it has read of, and at times with one that it has not."""

    _read = ""

    def see(self, action: str, observation: str) -> None:
        """Remember what was shown."""
        self._read += f"\n{observation}"

    def draft(self) -> str:
        """Draft one command."""
        if self.chance(0.3):
            return self.rng.choice(ALONE)
        names = self.task.state["names"]
        known = [name for name in names if name in self._read or name in self.task.instruction]
        noun = self.rng.choice(known if known and self.chance(0.9) else names)
        verb = self.rng.choice(VERBS)
        other = self.rng.choice(names)
        if verb == "insert":
            return self.rng.choice((f"put {noun} on {other}", f"insert {noun} into {other}"))
        return f"unlock {noun} with {other}" if verb == "unlock" else f"{verb} {noun}"
