"""The core: episodes that start, advance a wave at a time, are logged and are replayed."""
