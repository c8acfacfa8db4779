"""What plain text needs before anybody may read it: escaping, and numbered lines."""
