"""Commands on the brokers' files and disks."""
