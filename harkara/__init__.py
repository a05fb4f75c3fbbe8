"""Assembles the pipeline, starts its roles and answers questions about it.

The top layer: it may import every other package, and none of them imports it.
"""
