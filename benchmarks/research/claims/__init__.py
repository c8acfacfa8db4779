"""What world models are good for, each claim tested by one script at the size of a small CPU."""
