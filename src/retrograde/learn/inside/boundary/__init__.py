"""What the system itself forbids learner code: namespaces, Landlock, seccomp and limits.

Each module puts up one of them for the process that calls it; none can be taken down again.
"""
