"""Records of topics: browse, search, decode, produce and export, without loading a topic."""
