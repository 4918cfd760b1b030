"""Trust it: is this gradient right, and how do we know?"""
