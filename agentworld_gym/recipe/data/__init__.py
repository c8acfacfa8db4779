"""From recorded sessions to tokens: filters, weights, drills, samples, tokenizers and stores."""
