"""The window for whole jobs."""

from window_fixtures import garbage_stays_here, opened, settings_folder, settle, styled, window

__all__ = ["garbage_stays_here", "opened", "settings_folder", "settle", "styled", "window"]
