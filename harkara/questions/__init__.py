"""Questions about what happened: the funnel, any SQL, and why one message was not sent, or not yet.

ClickHouse answers for what was decided and attempted, Kafka for what it cannot know.
"""
