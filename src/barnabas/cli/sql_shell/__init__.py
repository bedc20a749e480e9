"""The SQL shell: statements from a file, a flag or a person, and their answers on the terminal."""
