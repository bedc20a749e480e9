"""Parts that all commands share: options, connections, output, progress, errors."""
