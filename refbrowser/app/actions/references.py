"""The actions of the menu References."""

from __future__ import annotations

from refbrowser.app.commands.group import ActionSpec

#: In the order of the menu; None is a separator.
REFERENCES: tuple[ActionSpec | None, ...] = (
    ActionSpec("add_template", "Add a &template", when="takes_rules"),
    ActionSpec("add_rule", "Add a &gen rule", when="takes_rules"),
    ActionSpec("add_reference", "Add a re&ference", when="is_open"),
    None,
    ActionSpec(
        "go_to_rule",
        "Go to the &rule of the key",
        when="takes_rules",
        tip="Show the gen rule that gives the selected key in its editor",
    ),
    ActionSpec(
        "override_key",
        "&Override the key",
        when="takes_rules",
        tip="Give the selected key of a gen rule a rule of its own, of one row, which counts",
    ),
    None,
    ActionSpec("template_values", "Template &values…", when="takes_rules"),
    ActionSpec("review_trust", "&Permissions…", when="is_open", icon="lock"),
    None,
    ActionSpec("go_to_key", "Go to &key", shortcut="Ctrl+P", when="is_open"),
)
