"""The files that run inside the sandbox of an AWM world; they need no package but those that such worlds import."""
