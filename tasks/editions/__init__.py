"""Releases over time: editions, the folder of incoming files, and the ledger of both."""
