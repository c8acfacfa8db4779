"""The ledger: what a world model says of the hidden state after an observation, and how that fits what it said before.

`block` puts it behind an answer, `notations` read its entries, `readings` tell what an observation shows of them, and a
`LedgerBook` holds what a history says, against which each turn is checked. `recall` answers a look at an entry from it.
"""

from agentworld_gym.prompting.ledger.block import StateChange, split_ledger, with_ledger
from agentworld_gym.prompting.ledger.book import LedgerBook, book_of
from agentworld_gym.prompting.ledger.recall import recalled

__all__ = ["LedgerBook", "StateChange", "book_of", "recalled", "split_ledger", "with_ledger"]
