"""From recorded sessions to tokens: filters, weights, samples, tokenizers and stores."""
