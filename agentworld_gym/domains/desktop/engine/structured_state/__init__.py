"""The structured state of a desktop, as plain JSON data: what its view reads, and what updates alone need."""
