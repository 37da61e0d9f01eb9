"""What tests of the window share."""

from window_fixtures import *  # noqa: F403
