"""Apache's scripts that start servers, and the shell on ZooKeeper."""
