"""The phases of a release, in three rooms.

`core` holds the algorithms (numpy and scipy only, no files, no Prefect), `adapters` the outside
world (files, WordNet, spaCy), `phases` joins the two, and `steps` wraps each phase as a Prefect
task. Nothing is imported here, so that `import tasks.core` never drags in Prefect.
"""
