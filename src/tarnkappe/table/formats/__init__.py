"""The formats of tables: CSV, JSON lines, Excel, Parquet, Arrow, databases, and what they have in common."""
