"""The stages that learn from samples: continual pre-training, fine-tuning, and the loop that they share."""
