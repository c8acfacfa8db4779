r"""The change form: a prediction is written as the change against the current state instead of the whole next one.

A line of an observation is a node: a line of an accessibility snapshot, a row of a table, an element of a screen. Lines
end at a line feed and at nothing else. A model is shown them with their numbers, from 0 (`numbered`), and writes:

    @@ change
    4| - button "Buy" [disabled]        line 4 becomes this
    7~ Total: 12 => Total: 24           in line 7, the text before `=>` becomes the text after it
    -9                                  line 9 goes
    -11..14                             lines 11 to 14 go
    +4| - text: Sold out                a line is added after line 4; `+start|` adds before the first
    15..30> 0,-120                      the elements of lines 15 to 30 move, here 120 pixels up

All numbers are those of the state before. `@@ same` says that nothing changes. Everything else is the full next state;
one that could be taken for a change stands after a line `@@ full`.

Where every line of a state begins with its index in brackets (`[0] `, `[1] `, ...), the number is that index: a change
leaves it out, and `apply` writes it anew.
"""

from agentworld_gym.llm.prompting.changes.grammar import CHANGE, FULL, SAME, ChangeError, numbered
from agentworld_gym.llm.prompting.changes.reading import apply
from agentworld_gym.llm.prompting.changes.writing import diff

__all__ = [
    "CHANGE",
    "FULL",
    "SAME",
    "ChangeError",
    "apply",
    "diff",
    "numbered",
]
