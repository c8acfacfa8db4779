"""A fictional web, its search engine, its page reader and a memory."""
