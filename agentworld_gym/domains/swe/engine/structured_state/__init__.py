"""The repository as plain JSON data: files, version control, the last answer, and what updates alone need."""
