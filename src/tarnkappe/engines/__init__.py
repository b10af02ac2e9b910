"""Engines: grouping, mapping and counting pushed down to where the rows are.

The modules of this folder load Ibis and the engine's own library, so they are imported when used.
"""
