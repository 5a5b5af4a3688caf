"""Pure algorithms: same input, same output, no files, no clock, no Prefect."""
