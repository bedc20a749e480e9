"""The loads of the matrix, one module for each client library."""
