"""What every phase stands on: the store, fingerprints, the executor of parts, redacted errors."""
