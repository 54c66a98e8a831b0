"""Contents of catalogs, from clusters, folders and images, cached on disk; and what they say."""
