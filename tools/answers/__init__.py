"""Generated answers to exercises, and those who judge them."""
