"""The graph that an update service serves: channels, blocked edges and releases. Pure."""
