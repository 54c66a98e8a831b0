"""The update service: graphs of updates for the clusters that ask."""
