"""The fixtures of the window."""

from window_fixtures import *  # noqa: F403
