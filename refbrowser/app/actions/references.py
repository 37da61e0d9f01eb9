"""The actions of the menu References."""

from __future__ import annotations

from refbrowser.app.actions.spec import ActionSpec

#: In the order of the menu; None is a separator.
REFERENCES: tuple[ActionSpec | None, ...] = (
    ActionSpec("add_template", "Add a &template", when="is_open"),
    ActionSpec("add_rule", "Add a &gen rule", when="is_open"),
    ActionSpec("add_reference", "Add a re&ference", when="is_open"),
    None,
    ActionSpec("template_values", "Template &values…", when="is_open"),
    ActionSpec("review_trust", "&Permissions…", when="is_open", icon="lock"),
    None,
    ActionSpec("go_to_key", "Go to &key", shortcut="Ctrl+P", when="is_open"),
)
