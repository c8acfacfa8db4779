"""The engine of Agent World Model's worlds (arXiv 2602.10090): FastAPI apps over SQLite that a pipeline generated.

Their code is not trusted. It runs in a sandbox of bubblewrap (`sandbox`), in processes that hold many sessions each
(`server`), and an episode is an `AwmMachine`. The files of a folder of worlds are read by `files`.
"""
