"""The web console: the stages of the command line as pages, with the rights of who looks."""
