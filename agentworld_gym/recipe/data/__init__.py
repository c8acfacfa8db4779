"""From recorded sessions to tokens on disk: files, filters, preparation, tokenizers and stores."""
