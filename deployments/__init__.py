"""Prefect around the flows: what is deployed, and the services (server, worker) to run it on."""

import flows as flows  # Says so, before anything else is imported, if this system is not supported.
