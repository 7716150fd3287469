"""``pydpmc completion``: shell completion, made from the parser itself."""

from __future__ import annotations

import argparse
from argparse import Namespace
from typing import Any

HOW = """\
to switch it on:
  bash:  eval "$(pydpmc completion bash)"                                  in ~/.bashrc
  zsh:   autoload -U compinit && compinit; eval "$(pydpmc completion zsh)" in ~/.zshrc
  fish:  pydpmc completion fish > ~/.config/fish/completions/pydpmc.fish
"""
BASH = """\
_pydpmc() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{names}"
  else
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ "${{#COMPREPLY[@]}}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}}
complete -o filenames -F _pydpmc pydpmc
"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "completion",
        help="print a script that completes commands and options in your shell",
        epilog=HOW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Print the script."""
    from .main import parser

    print(script(parser(), arguments.shell), end="")


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the completion script of a parser with commands."""
    words = {name: _words(inner) for name, inner in _commands(parser).items()}
    if shell == "fish":
        lines = [f"complete -c pydpmc -n __fish_use_subcommand -a {name}" for name in words]
        for name, options in words.items():
            for option in options:
                kind = f"-l {option[2:]}" if option.startswith("--") else f"-a {option}"
                lines.append(f"complete -c pydpmc -n '__fish_seen_subcommand_from {name}' {kind}")
        return "\n".join(lines) + "\n"
    cases = "\n".join(f'      {name}) words="{" ".join(options)}" ;;' for name, options in words.items())
    text = BASH.format(names=" ".join([*words, "--help", "--version"]), cases=cases)
    return f"autoload -U bashcompinit && bashcompinit\n{text}" if shell == "zsh" else text


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _words(parser: argparse.ArgumentParser) -> list[str]:
    words: list[str] = []
    for action in parser._actions:
        words += [option for option in action.option_strings if option.startswith("--")]
        words += [] if action.option_strings else [str(choice) for choice in action.choices or ()]
    return words
