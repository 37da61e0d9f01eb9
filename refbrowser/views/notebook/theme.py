"""The colours and the layout of what notebooks show: for one element and what is in it, light and dark.

Each output brings its own sheet, as there is no other place for one. Colours are those of the notebook's
theme where it tells them (JupyterLab, VS Code); where it does not, it may still say whether it is dark
(Colab, pages of documentation), and else the system does.
"""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.markup import Content, Markup, element, folded, markup, style
from refbrowser.words import counted_spaced

_LIGHT = """--rb-back:var(--jp-layout-color0,var(--vscode-editor-background,#ffffff));
--rb-text:var(--jp-content-font-color1,var(--vscode-editor-foreground,#1f2328));
--rb-soft:var(--jp-content-font-color2,var(--vscode-descriptionForeground,#59636e));
--rb-line:var(--jp-border-color2,#d9dee4);--rb-card:#f5f7f9;
--rb-fill:#dfe9f5;--rb-edge:#7b9cc4;--rb-first:#2866b1;--rb-type:#6b4fa0;
--rb-fault:#b3261e;--rb-warning:#8a5a00;--rb-good:#1b6e3c;color-scheme:light;"""
_DARK = """--rb-back:var(--jp-layout-color0,var(--vscode-editor-background,#181a1d));
--rb-text:var(--jp-content-font-color1,var(--vscode-editor-foreground,#e6e8eb));
--rb-soft:var(--jp-content-font-color2,var(--vscode-descriptionForeground,#a3abb5));
--rb-line:var(--jp-border-color2,#3a4047);--rb-card:#22262b;
--rb-fill:#243650;--rb-edge:#6486b3;--rb-first:#8cbcf5;--rb-type:#bfa6ee;
--rb-fault:#ff8a80;--rb-warning:#ffc668;--rb-good:#7ad9a0;color-scheme:dark;"""
#: How hosts say which they are, stronger than what the system prefers.
_SAYS_LIGHT = ("[data-jp-theme-light=true]", ".vscode-light", "[data-theme=light]", "[theme=light]")
_SAYS_DARK = (
    "[data-jp-theme-light=false]",
    ".vscode-dark",
    ".vscode-high-contrast:not(.vscode-high-contrast-light)",
    "[data-theme=dark]",
    "[theme=dark]",
)
#: What is within the one element, said thrice: hosts have rules for code and tables that would win otherwise.
_WITHIN = f"{3 * '.rb'} "
_LAYOUT = """
.rb{font:13px/1.5 system-ui,sans-serif;color:var(--rb-text);background:var(--rb-back);max-width:60rem;
padding:.25rem 0;text-align:left}
.rb *{box-sizing:border-box;unicode-bidi:isolate}
.rb code,.rb .rb-mono,.rb pre{font:12px/1.5 ui-monospace,"SF Mono",Menlo,Consolas,monospace}
.rb code,.rb pre{color:inherit;background:none;padding:0;border:0;overflow-wrap:anywhere}
.rb .rb-head{padding:0 0 .3rem;border-bottom:1px solid var(--rb-line);margin:0 0 .35rem}
.rb .rb-kind{color:var(--rb-soft);margin-right:.25em}
.rb .rb-name{font-weight:600;overflow-wrap:anywhere}
.rb .rb-soft{color:var(--rb-soft)}
.rb .rb-fault{color:var(--rb-fault)}.rb .rb-warning{color:var(--rb-warning)}.rb .rb-good{color:var(--rb-good)}
.rb p{margin:.15rem 0;color:inherit;font:inherit}
.rb details{margin:0}
.rb summary{display:block;list-style:none;cursor:pointer;padding:.1rem 0;border-radius:3px}
.rb summary::-webkit-details-marker{display:none}
.rb summary::before{content:"▸";display:inline-block;width:1rem;color:var(--rb-soft)}
.rb details[open]>summary::before{content:"▾"}
.rb summary:hover{background:var(--rb-card)}
.rb .rb-group{margin:.1rem 0}
.rb .rb-inside{margin-left:.4rem;padding-left:.75rem;border-left:1px solid var(--rb-line)}
.rb .rb-cells{display:inline-grid;width:calc(100% - 1.1rem);vertical-align:top;column-gap:.9rem;
grid-template-columns:minmax(6rem,1fr) minmax(0,15rem) 6.5rem minmax(0,8.5rem) 5rem}
.rb .rb-cells>*{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.rb .rb-cells>:last-child{text-align:right;font-variant-numeric:tabular-nums}
.rb .rb-plain{padding:.1rem 0 .1rem 1rem}.rb .rb-plain .rb-cells{width:calc(100% - .1rem)}
.rb .rb-type{color:var(--rb-type)}
.rb .rb-body{display:flex;flex-wrap:wrap;gap:.5rem 2rem;padding:.4rem 0 .6rem;align-items:flex-start}
.rb .rb-body>:last-child{flex:1 1 20rem;min-width:0}
.rb table.rb-pairs{border-collapse:collapse;margin:0;border:0;font:inherit;color:inherit;table-layout:auto}
.rb .rb-pairs thead,.rb .rb-pairs tr{border:0}
.rb .rb-pairs tr,.rb .rb-pairs tr:hover{background:none}
.rb .rb-pairs td,.rb .rb-pairs th{text-align:left;vertical-align:top;padding:.05rem 1.1rem .05rem 0;border:0;
max-width:none;white-space:normal;overflow-wrap:anywhere;font-weight:400;font-size:13px;line-height:1.5}
.rb .rb-pairs tr>:first-child{color:var(--rb-soft);white-space:nowrap}
.rb .rb-rows tr>:first-child{color:inherit;white-space:normal}
.rb .rb-rows thead tr{border-bottom:1px solid var(--rb-line)}
.rb .rb-rows th{color:var(--rb-soft);white-space:nowrap}
.rb .rb-pairs td:last-child{padding-right:0}
.rb svg.rb-chunks{display:block;overflow:visible;max-width:100%;height:auto}
.rb .rb-chunks text{font:11px system-ui,sans-serif;fill:var(--rb-text)}
.rb .rb-chunks .rb-soft{fill:var(--rb-soft)}
.rb .rb-chunks .rb-face{fill:var(--rb-fill);stroke:none}
.rb .rb-chunks .rb-edges{stroke:var(--rb-edge);stroke-width:1;fill:none;shape-rendering:crispEdges}
.rb .rb-chunks .rb-some{stroke-dasharray:2 2}
.rb .rb-chunks .rb-first{fill:var(--rb-first);fill-opacity:.55;stroke:var(--rb-first);stroke-width:1}
.rb pre{margin:.2rem 0;white-space:pre-wrap}
@media (max-width:40rem){.rb .rb-cells{grid-template-columns:minmax(5rem,1fr) 6.5rem 5rem}
.rb .rb-cells>:nth-child(2),.rb .rb-cells>:nth-child(4){display:none}}
""".replace(".rb ", _WITHIN)


#: Between the words of a head.
GAP = element("span", " · ", class_="rb-soft")


def themed(rules: Callable[[bool, str], str]) -> str:
    """Return a sheet for both themes.

    Parameters
    ----------
    rules
        Returns the rules of the dark theme, or of the light one, for what a selector names.
    """
    system = f"@media (prefers-color-scheme:dark){{{rules(True, '.rb')}}}"
    told = [
        rules(is_dark, f":is({','.join(hosts)}) .rb")
        for is_dark, hosts in ((False, _SAYS_LIGHT), (True, _SAYS_DARK))
    ]
    return "".join([rules(False, ".rb"), system, *told])


_SHEET = f"{themed(lambda is_dark, place: f'{place}{{{_DARK if is_dark else _LIGHT}}}')}{_LAYOUT}"


def shown(*content: Content, sheet: str = "") -> Markup:
    """Return what a notebook shows as one element, with the sheet that is for it alone.

    Parameters
    ----------
    sheet
        Further rules.
    """
    return element("div", style(_SHEET, sheet), *content, class_="rb")


def kind_of(what: str) -> Markup:
    """Return what something is, in front of its head."""
    return markup(element("span", what, class_="rb-kind"), " ")


def head(kind: str, name: str, *more: Content) -> Markup:
    """Return the first line of what is shown: what it is, its name, and some words about it."""
    return element(
        "div",
        kind_of(kind),
        element("code", name, class_="rb-name"),
        [[GAP, element("span", each, class_="rb-soft")] for each in more if each],
        class_="rb-head",
    )


def part(title: Content, *content: Content, is_open: bool = True) -> Markup:
    """Return something below its title, to be folded away or unfolded."""
    return folded(title, element("div", *content, class_="rb-inside"), is_open=is_open, class_="rb-group")


def more_words(count: int, what: str = "") -> Markup:
    """Return how many more there are than are shown; nothing where all are."""
    words = f"and {counted_spaced(count, what)}" if what else f"and {count:,} more"
    return element("p", words, class_="rb-soft") if count > 0 else Markup("")
