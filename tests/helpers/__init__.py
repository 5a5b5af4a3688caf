"""What tests share: logs, stores, releases, engines."""
