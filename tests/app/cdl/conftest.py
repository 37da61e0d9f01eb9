"""What tests of the CDL view share."""

from __future__ import annotations

from window_fixtures import Open, garbage_stays_here, opened, settings_folder, settle, styled, window

__all__ = ["Open", "garbage_stays_here", "opened", "settings_folder", "settle", "styled", "window"]
