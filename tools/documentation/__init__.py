"""How the documentation site is made: pages that come from elsewhere, formulas, figures, checks.

``mkdocs.yml`` names the pages, ``hooks.py`` is what mkdocs calls while building; ``__main__.py`` is
the command that builds, checks and serves. Nothing here is part of the package.
"""
