"""What is measured, how, and against what."""
