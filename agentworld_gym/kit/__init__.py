"""What several domains are made of: tables, widgets, drawings, word lists, and the comparison of texts."""
