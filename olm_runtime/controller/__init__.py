"""What controllers share: the work queue, leader election, statuses."""
