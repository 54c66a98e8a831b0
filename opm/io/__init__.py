"""What `opm` reads from and writes to: folders, images, databases."""
