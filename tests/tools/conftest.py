"""What tests of tools in the window share: the fixtures of the window."""

from window_fixtures import *  # noqa: F403
