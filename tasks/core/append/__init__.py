"""One more release of an edition: new records join published clusters, form new ones, or wait."""
