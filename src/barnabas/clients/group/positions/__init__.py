"""Where a consumer stands in each partition, and how that is found out."""
