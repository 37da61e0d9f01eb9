"""The window for whole jobs."""

from window_fixtures import opened, settings_folder, settle, styled, window

__all__ = ["opened", "settings_folder", "settle", "styled", "window"]
