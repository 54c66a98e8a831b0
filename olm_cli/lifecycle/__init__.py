"""Options, questions and texts that commands about extensions share."""
