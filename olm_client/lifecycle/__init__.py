"""Extensions planned, installed, updated, rolled back, removed and waited for."""
