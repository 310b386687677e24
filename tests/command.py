"""The command line, within this process."""

from click.testing import CliRunner

from boxwood.cli import boxwood


def invoke(*words, code=0, **how):
    """Return what a call of `boxwood` wrote, which must exit with a code; None is any."""
    result = CliRunner().invoke(boxwood, [str(word) for word in words], **how)
    assert code is None or result.exit_code == code, result.output
    return result
