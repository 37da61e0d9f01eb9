"""Scripts that let bash, zsh and fish complete commands of refbrowser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from shlex import quote

from refbrowser.tools.completion.command_words import OptionWords, VerbWords

_BASH = """\
# Completion of refbrowser for bash, made by: refbrowser completion bash
_refbrowser() {
    # Bash itself makes several words of zstd:3.
    local line=${COMP_LINE:0:COMP_POINT} verb= words= word before
    local current=${line##*[[:space:]=]}
    line=${line%%"$current"}
    read -ra before <<< "${line//=/ }"
    local previous=${before[${#before[@]}-1]}
    COMPREPLY=()
    for word in "${before[@]:1}"; do
        if [[ $word != -* ]]; then
            verb=$word
            break
        fi
    done
    case "$verb:$previous" in
%s
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ $current == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%%"${current##*:}"}"}")
    fi
}
# Where nothing is offered, files are.
complete -o bashdefault -o default -F _refbrowser refbrowser
"""

#: Says that not even files are offered; bash 3 cannot.
_NOTHING = "compopt +o default +o bashdefault 2>/dev/null"


def bash_script(verbs: Sequence[VerbWords], window: VerbWords) -> str:
    """Return the script for bash.

    Parameters
    ----------
    window
        What can be typed where there is no verb.
    """
    names = " ".join(each.name for each in verbs)
    lines = [f"    help:*) words={quote(names)} ;;"]
    for each in (*verbs, window):
        lines += _bash_cases(each, () if each.name else (names, "help"))
    return _BASH % "\n".join(lines)


def _bash_cases(verb: VerbWords, words: Iterable[str]) -> list[str]:
    """Return what is offered behind an option that takes a value, then all else, as cases."""
    lines = []
    with_value = [each for each in verb.options if each.value]
    for each in with_value:
        if each.choices:
            lines.append(f"    {_patterns(verb, [each])}) words={quote(' '.join(each.choices))} ;;")
    files = [each for each in with_value if each.takes_file and not each.choices]
    others = [each for each in with_value if not each.takes_file and not each.choices]
    if files:
        lines.append(f"    {_patterns(verb, files)}) return ;;")
    if others:
        lines.append(f"    {_patterns(verb, others)}) {_NOTHING}; return ;;")
    flags, rest = " ".join(verb.flags), " ".join((*verb.choices, *words))
    offered = f"if [[ $current == -* ]]; then words={quote(flags)}; else words={quote(rest)}; fi"
    return [*lines, f"    {verb.name}:*) {offered} ;;"]


def _patterns(verb: VerbWords, options: Iterable[OptionWords]) -> str:
    return " | ".join(f"{verb.name}:{flag}" for option in options for flag in option.flags)


_ZSH = """\
#compdef refbrowser
# Completion of refbrowser for zsh, made by: refbrowser completion zsh
_refbrowser() {
    local curcontext=$curcontext state line
    local -a verbs
    verbs=(
%s
    )
    _arguments -C \\
%s \\
        '1:verb:->verb' \\
        '*::argument:->rest'
    case $state in
    verb)
        _describe -t verbs verb verbs
        _files
        ;;
    rest)
        case $words[1] in
        help) _describe -t verbs verb verbs ;;
%s
        *) _files ;;
        esac
        ;;
    esac
}
if [[ $funcstack[1] == _refbrowser ]]; then
    _refbrowser "$@"
else
    compdef _refbrowser refbrowser
fi
"""


def zsh_script(verbs: Sequence[VerbWords], window: VerbWords) -> str:
    """Return the script for zsh; `window`: what can be typed where there is no verb."""
    names = [*((each.name, each.about) for each in verbs), ("help", "explain a verb")]
    described = "\n".join(f"        {quote(f'{name}:{about}')}" for name, about in names)
    cases = []
    for each in verbs:
        place = f"*:word:({' '.join(each.choices)})" if each.choices else "*:file:_files"
        specs = " \\\n".join(f"                {spec}" for spec in (*_zsh_specs(each), quote(place)))
        cases.append(f"        {each.name})\n            _arguments \\\n{specs}\n            ;;")
    first = " \\\n".join(f"        {spec}" for spec in _zsh_specs(window))
    return _ZSH % (described, first, "\n".join(cases))


def _zsh_specs(verb: VerbWords) -> list[str]:
    return [spec for option in verb.options for spec in _zsh_spec(option)]


def _zsh_spec(option: OptionWords) -> list[str]:
    """Return what `_arguments` is told of each name of an option."""
    value = ""
    if option.value:
        what = "_files" if option.takes_file else " "
        what = f"({' '.join(_escaped(each) for each in option.choices)})" if option.choices else what
        value = f":{_escaped(option.value)}:{what}"
    about = option.about.replace("[", "\\[").replace("]", "\\]")
    # One name of an option excludes the others, and itself where it is said once.
    others = "*" if option.is_repeated else f"({' '.join(option.flags)})"
    return [
        quote(f"{others}{flag}{'=' if value and flag.startswith('--') else ''}[{about}]{value}")
        for flag in option.flags
    ]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:").replace("(", "\\(").replace(")", "\\)")


def fish_script(verbs: Sequence[VerbWords], window: VerbWords) -> str:
    """Return the script for fish; `window`: what can be typed where there is no verb."""
    lines = ["# Completion of refbrowser for fish, made by: refbrowser completion fish"]
    names = [*((each.name, each.about) for each in verbs), ("help", "explain a verb")]
    for name, about in names:
        lines.append(f"complete -c refbrowser -n __fish_use_subcommand -a {name} -d {_in_fish(about)}")
    known = _in_fish(" ".join(each.name for each in verbs))
    lines.append(f"complete -c refbrowser -n '__fish_seen_subcommand_from help' -f -a {known}")
    for each in (window, *verbs):
        behind = "__fish_use_subcommand"
        if each.name:
            behind = f"'__fish_seen_subcommand_from {each.name}'"
        lines += [f"complete -c refbrowser -n {behind} {_fish_option(option)}" for option in each.options]
        if each.choices:
            lines.append(f"complete -c refbrowser -n {behind} -f -a {_in_fish(' '.join(each.choices))}")
    return "\n".join(lines) + "\n"


def _fish_option(option: OptionWords) -> str:
    names = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags]
    value = ""
    if option.choices:
        value = f" -x -a {_in_fish(' '.join(option.choices))}"
    elif option.value:
        value = " -r -F" if option.takes_file else " -x"
    return f"{' '.join(names)}{value} -d {_in_fish(option.about)}"


def _in_fish(text: str) -> str:
    """Return a text between quotes, as fish reads them."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


#: What makes the script of each shell.
SCRIPTS: dict[str, Callable[[Sequence[VerbWords], VerbWords], str]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}
