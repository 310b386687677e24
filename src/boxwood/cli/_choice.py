"""Options that take one of several words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from boxwood._messages import did_you_mean

if TYPE_CHECKING:
    _Words = click.Choice[str]
else:  # before click 8.2 it has no type of its words
    _Words = click.Choice


class Choice(_Words):
    """One of several words; the error for another one asks for the word that is meant.

    Parameters
    ----------
    choices : sequence of str
        The words that are allowed.
    elsewhere : mapping, default=None
        Words that belong to another option, and what to write for each of them.
    """

    def __init__(
        self, choices: Sequence[str], *, case_sensitive: bool = True, elsewhere: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(choices, case_sensitive)
        self.elsewhere = elsewhere or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            place = self.elsewhere.get(str(value).casefold())
            hint = f"; did you mean {place}?" if place else did_you_mean(str(value), self.choices)
            raise click.BadParameter(error.message.removesuffix(".") + (hint or "."), ctx, param) from None
