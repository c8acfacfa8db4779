"""The decoding of small models on a CPU, with many sequences packed into one pass.

This code stands beside vLLM because small models shall run wherever torch does, and beside the `generate` of
transformers because that pads the rows of a batch and does not keep what earlier batches read.
"""
