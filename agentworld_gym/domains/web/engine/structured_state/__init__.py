"""The structured state of a browser: pages, tabs and sites as plain JSON data, and back."""
