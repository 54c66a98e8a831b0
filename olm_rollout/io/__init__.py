"""Objects as the API server has them: writes, watches, checks."""
