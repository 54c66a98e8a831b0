"""What of the Cluster Version Operator touches the world or the clock."""
