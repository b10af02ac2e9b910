"""Noisy aggregates: differentially private counts, sums, means and quantiles, and what a query spends.

The promise is about rows: with or without any one row of a base relation, every answer is nearly as likely.
The engine adds up; the noise is drawn by OpenDP, whose measurements state their own epsilon, and that
statement is checked before a number is released.
"""
