"""The audit: counts what Kafka, the roles' state and ClickHouse know, apart, and compares them.

`cut` takes offsets first; `sources`, `feed`, `state` and `stored` each read one witness up to it;
`verdict` compares what they say, without asking anybody; `audit` repeats a look that found something,
since in a living system a delivery may move between two of them.
"""
