"""The changes that pages offer, each as API request, command line and Python text."""
