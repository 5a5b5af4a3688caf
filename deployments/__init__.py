"""Prefect around the flows: what is deployed, and the services (server, worker) to run it on."""
