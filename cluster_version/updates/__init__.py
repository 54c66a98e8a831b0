"""Which updates a cluster may make: what the update service says, and which risks apply. Pure."""
