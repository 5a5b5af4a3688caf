"""Prefect around the flows: what is deployed, and a stack of server and worker to run it on."""
