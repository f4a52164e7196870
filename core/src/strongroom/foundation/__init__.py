"""What every wing uses: errors, database, configuration, limits, jobs, plugins and small helpers."""
