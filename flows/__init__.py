"""Prefect flows and the commands that start them."""
