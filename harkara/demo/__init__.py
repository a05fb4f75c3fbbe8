"""A scripted day through the running pipeline: who lives in it, what happens, what came of it.

`people`, `events` and `world` are pure: the same seed is the same day. Every figure that is shown
comes from the running system.
"""
