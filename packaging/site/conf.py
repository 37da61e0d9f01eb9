"""How Sphinx makes the site of the pages that `pages.py` writes."""

from __future__ import annotations

from refbrowser import __version__

project = "refbrowser"
author = "the refbrowser developers"
copyright = "the refbrowser developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# Names between single backquotes in docstrings are those of the package where it has them, else code.
default_role = "code"
napoleon_google_docstring = False
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "groupwise"

html_theme = "furo"
html_title = "refbrowser"
html_favicon = "../../resources/refbrowser.svg"
html_logo = "../../resources/refbrowser.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7db8f0", "color-brand-content": "#7db8f0"},
}
# A prompt is no part of what is copied.
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
