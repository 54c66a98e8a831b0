"""What a namespace of OLM Classic has and asks, and what that would install."""
