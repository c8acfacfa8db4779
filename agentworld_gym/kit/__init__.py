"""What several domains are made of: tables, widgets, drawings, word lists, the sandbox, live systems."""
