"""The phases of a release, one file each, in the order of the data (paper Figure 1).

read → analyse → compare → cluster → redact → measure → write → verify → publish

Each takes the typed results of those before it and joins the algorithms of `core` to the outside
world. They know nothing of Prefect: `tasks.steps` wraps each as a task, `--bare` runs them as they
are, and `flows/release.py` shows them as calls in a row.
"""
