"""For processes that are ours from beginning to end: their signals, a fast start and a fast end.

A library must do neither, it would change the process of others. Nothing is imported here: the first of it
runs before anything else is loaded.
"""
