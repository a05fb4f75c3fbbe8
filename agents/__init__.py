"""The steps of the pipeline: each reads topics, asks the tables, and says what changes."""
