"""The checker: what a written release must hold, clause by clause; knows nothing of redaction."""
