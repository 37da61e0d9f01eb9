"""The keys of metadata, as the adapters of formats see them."""

from __future__ import annotations

from refbrowser.model.metadata_keys import DRAFT_ROOTS, METADATA_NAMES, is_metadata_key

__all__ = ["DRAFT_ROOTS", "METADATA_NAMES", "is_metadata_key"]
