"""What `olm install`, `plan`, `status` and `uninstall` work out and do."""
