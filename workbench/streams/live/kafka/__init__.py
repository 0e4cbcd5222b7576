"""Topics of Kafka as live sources, by confluent-kafka (extra ``kafka``)."""
