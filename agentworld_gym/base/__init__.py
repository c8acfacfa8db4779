"""What every room builds on: errors, documents, texts, processes, statistics and fingerprints."""
