"""Learning backpropagation: exercises that say what went wrong, and grading of any engine.

Exercises are text files in ``exercises/``; learner code runs in a process of its own and leaves
answers; faults are engines and rules that each have exactly one misconception built in.
"""
