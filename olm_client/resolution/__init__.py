"""What an extension asks for, what that comes to, and why, as data and as text."""
