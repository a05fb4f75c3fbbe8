"""Chaos: a flow of events, faults in the middle of it, and a verdict over everything that is left.

`load` and `expected` are pure: what is written, and what must come of it. `faults` break things;
`evidence` collects what topics, ledger and ClickHouse hold afterwards, and `verdict` compares.
"""
