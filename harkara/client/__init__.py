"""What a program of one's own does: write events to Kafka and follow what becomes of them."""
