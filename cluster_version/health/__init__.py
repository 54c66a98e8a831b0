"""Whether what was applied is well, and what errors of a round come to together. No I/O."""
