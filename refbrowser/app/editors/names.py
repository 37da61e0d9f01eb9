"""What can be named in a jinja field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refbrowser.references.templates.templates import TemplateSet


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Dimensions and templates; in the text of a template itself any name is an argument (`any_name`)."""

    dimensions: tuple[str, ...] = ()
    templates: TemplateSet | None = None
    any_name: bool = False

    def same(self, other: Names) -> bool:
        """Whether another value names the same."""
        return (
            self.dimensions == other.dimensions
            and self.templates is other.templates
            and self.any_name == other.any_name
        )

    def has_template(self, name: str) -> bool:
        """Whether there is a template of this name."""
        return self.templates is not None and name in self.templates.texts
