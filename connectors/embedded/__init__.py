"""A real Kafka, Valkey and ClickHouse on this machine, with nothing installed but Python packages."""
