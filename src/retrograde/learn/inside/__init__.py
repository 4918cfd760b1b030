"""The process in which learner code runs: what it asks of that code, and the boundary around it.

Nothing here imports the rest of the package, and nothing here knows a right answer: this folder
alone is shown to that process, as a package of its own. See the README beside this file.
"""
