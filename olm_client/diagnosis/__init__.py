"""What is wrong in a cluster: facts that are read once, checks over them, findings."""
