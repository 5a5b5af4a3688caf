"""Methods side by side on one log: baselines, measures, figures, the page of `flows.compare`."""
