"""From graphs to functions."""
