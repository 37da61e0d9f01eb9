"""The entries of the menu Data: how the plot looks, and what explores it."""

from __future__ import annotations

from refbrowser.app.actions.action_spec import OF_FORMATS, ActionSpec

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
        "toggle_colour",
        "&Bands as colours",
        when="can_colour",
        check="shows_bands",
        plot_key="B",
        tip="Show red, green and blue together as the colours that they are, or one band at a time",
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
        tip="Fit the colour limits to the values shown",
    ),
    ActionSpec(
        "toggle_extremes",
        "Colours from mi&nimum to maximum",
        when="has_levels",
        check="is_extremes",
        plot_key="M",
        tip="Span the colours from minimum to maximum, or only from the 2nd to the 98th percentile",
    ),
    ActionSpec(
        "fix_levels",
        "&Keep the levels on every slice",
        when="has_levels",
        check="are_levels_fixed",
        plot_key="F",
        tip="Let colours mean the same while sliders move, or follow the values of each slice",
    ),
    ActionSpec(
        "colour_scale",
        "Colour s&cale…",
        when="has_levels",
        plot_key="K",
        tip="Lay the colours otherwise over the values: centred, in steps, on a logarithm of both signs",
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
        tip="Reverse the colour map",
    ),
    ActionSpec(
        "import_colours",
        "&Import colour table…",
        when="has_levels",
        submenu="Colour &tables",
        tip="Use a colour table of ncview, Panoply, GMT, NCL or matplotlib that is in a file",
    ),
    ActionSpec(
        "matplotlib_map",
        "Colour map of &matplotlib…",
        when="can_import_maps",
        submenu="Colour &tables",
        tip="Use a colour map by the name that it has in matplotlib, where that is installed",
    ),
    ActionSpec(
        "remove_colours",
        "&Remove this colour table",
        when="is_map_imported",
        submenu="Colour &tables",
        tip="Forget the imported colour table that is used",
    ),
    None,
    ActionSpec(
        "toggle_aspect",
        "Equal scale on both a&xes",
        when="has_proportions",
        check="is_aspect",
        plot_key="A",
        tip="Draw one step as long on both axes, or fill the view with the image",
    ),
    ActionSpec(
        "reset_view", "Show the &whole picture", when="has_plot", plot_key="R", tip="Reset zoom and pan"
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
        tip="Animate the slices along the slider's dimension",
    ),
    ActionSpec(
        "export_profile", "Export profile…", when="is_profile", tip="Write the profile to a file (CSV)"
    ),
    ActionSpec("export_series", "Export series…", when="is_series", tip="Write the series to a file (CSV)"),
    None,
    OF_FORMATS,
)
