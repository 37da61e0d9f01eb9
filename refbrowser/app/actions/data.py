"""The actions of the menu Data."""

from __future__ import annotations

from refbrowser.app.commands.group import ActionSpec

#: In the order of the menu; None is a separator.
DATA: tuple[ActionSpec | None, ...] = (
    ActionSpec(
        "toggle_coding",
        "&CF conventions",
        when="has_coding",
        check="is_decoded",
        tip="Apply scale, offset, missing values, times and flags, or show the elements as they are stored",
    ),
    ActionSpec(
        "toggle_log",
        "&Logarithmic scale",
        when="can_log",
        check="is_log",
        plot_key="L",
        tip="Use a logarithmic scale for the colours, or for the values of a line",
    ),
    ActionSpec(
        "toggle_histogram",
        "&Histogram",
        when="has_levels",
        check="is_histogram",
        plot_key="H",
        tip="Show how often values occur beside the colours, to drag the levels there",
    ),
    ActionSpec(
        "auto_levels",
        "Reset colour li&mits",
        when="has_levels",
        tip="Set the ends of the colours by what is shown",
    ),
    ActionSpec(
        "toggle_extremes",
        "Colours from mi&nimum to maximum",
        when="has_levels",
        check="is_extremes",
        plot_key="M",
        tip="Let the colours reach from the least to the greatest value, or only from 2nd to 98th percentile",
    ),
    ActionSpec(
        "next_map",
        "Next colour &map",
        when="has_levels",
        plot_key="C",
        tip="Use the colour map after this one",
    ),
    ActionSpec(
        "toggle_reverse",
        "&Reverse the colour map",
        when="has_levels",
        check="is_reverse",
        tip="Run through the colour map from its other end",
    ),
    None,
    ActionSpec(
        "toggle_aspect",
        "Equal scale on both a&xes",
        when="has_image",
        check="is_aspect",
        plot_key="A",
        tip="Draw one step as long on both axes, or fill the view with the image",
    ),
    ActionSpec(
        "reset_view", "Show the &whole picture", when="has_plot", plot_key="R", tip="Take back zoom and pan"
    ),
    None,
    ActionSpec(
        "toggle_profile",
        "&Profile",
        when="can_profile",
        check="is_profile",
        plot_key="P",
        tip="Draw a line across the image, and show the values along it below",
    ),
    ActionSpec(
        "series_here",
        "&Series at the cursor",
        when="can_series",
        plot_key="S",
        tip="Show the values of the element under the cursor along the slider's dimension (Shift+S adds it)",
    ),
    ActionSpec(
        "toggle_series",
        "Series where you clic&k",
        when="can_series",
        check="is_series",
        tip="Show the values of each element that is clicked along the slider's dimension",
    ),
    ActionSpec(
        "play",
        "Pla&y",
        when="can_series",
        check="is_playing",
        plot_key="Space",
        tip="Move through the slices along the slider's dimension, one frame after the other",
    ),
    ActionSpec(
        "export_profile", "Export profile…", when="is_profile", tip="Write the profile to a file (CSV)"
    ),
    ActionSpec("export_series", "Export series…", when="is_series", tip="Write the series to a file (CSV)"),
    None,
    ActionSpec(
        "compare_orders",
        "&Byte order…",
        when="has_messages",
        tip="Compare both byte orders of a stream's numbers, and choose one for this file",
    ),
    ActionSpec(
        "explain",
        "E&xplain",
        shortcut="Ctrl+I",
        when="has_document",
        tip="Say why the current element, cell, key, chunk or problem shows as it does (E in the plot)",
    ),
)
