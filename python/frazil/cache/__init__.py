"""What is compiled once is found again by later processes."""
