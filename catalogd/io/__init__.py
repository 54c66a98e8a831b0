"""Where catalogd touches the world: disk, images, cluster."""
