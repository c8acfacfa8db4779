"""What a domain and a task are, and how an answer is scored."""
