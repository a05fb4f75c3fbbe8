"""What flows through the pipeline, and what is decided about it.

Pure and synchronous: no I/O, no clock, no dice. Everything here can be called
from a test with plain values.
"""
