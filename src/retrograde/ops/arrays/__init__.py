"""What is derived from the array law (``../array.py``): adjoints, oracle, words, unfoldings."""
