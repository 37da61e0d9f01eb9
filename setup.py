"""Packages are found, not listed; the program's resources become one of them.

All else is in pyproject.toml, which has no words for packages of two folders.
"""

from setuptools import find_packages, setup

setup(packages=[*find_packages(include=["refbrowser*"]), "refbrowser.resources"])
