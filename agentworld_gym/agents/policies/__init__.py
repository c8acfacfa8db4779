"""Who acts: experts, random choices from a menu, explorers, trained networks, and how they play tasks."""
