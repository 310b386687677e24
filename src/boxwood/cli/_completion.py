"""`boxwood completion SHELL`: a script that lets the shell complete verbs, options and files."""

from __future__ import annotations

import click

from boxwood.cli._options import Choice, talk_options
from boxwood.cli._terminal import show
from boxwood.cli._verbs import Verb

_EPILOG = """\b
Examples:
  boxwood completion bash > ~/.local/share/bash-completion/completions/boxwood
  boxwood completion zsh > ~/.zfunc/_boxwood        with fpath+=~/.zfunc and compinit in ~/.zshrc
  boxwood completion fish > ~/.config/fish/completions/boxwood.fish
"""


@click.command(name="completion", cls=Verb, epilog=_EPILOG)
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]))
@talk_options
def command(shell: str, quiet: bool) -> None:
    """Print a script that lets a shell complete the verbs, their options and the names of files.

    The shell reads it when it starts, from a file or by eval "$(boxwood completion bash)".
    """
    from click.shell_completion import get_completion_class

    from boxwood.cli import boxwood

    made = get_completion_class(shell)
    if made is None:  # a shell that this version of click does not know
        raise click.UsageError(f"click cannot complete in {shell}")
    script = made(boxwood, {}, "boxwood", "_BOXWOOD_COMPLETE")
    show(script.source_template % script.source_vars(), is_code=True)
