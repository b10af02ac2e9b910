"""Other tools, each in an environment of its own: their requirements clash with ours and each other's."""
