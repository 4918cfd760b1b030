"""The pure-Python core, and the face both cores wear. The native core is `retrograde._native`."""
