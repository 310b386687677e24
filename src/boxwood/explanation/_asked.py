"""`Asked`: the parameters of `explain`, checked, apart from the table and the clustering."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from boxwood._threads import n_threads
from boxwood._validation import refuse_unknown, shown
from boxwood.explanation._holdout import Validate, checked_validate
from boxwood.explanation._options import method_with_options
from boxwood.explanation._progress import Progress, as_progress

if TYPE_CHECKING:
    from boxwood.explanation._names import Names

__all__ = ["Asked", "Candidates"]


class Candidates(tuple[str, ...]):
    """Columns that the command line proposes: those of one value, and unless they are named, identifiers are left out.

    Columns that a caller names in any other way are all used.
    """

    are_named: bool

    def __new__(cls, names: Iterable[str], *, are_named: bool = False) -> Candidates:
        """Return the columns; `are_named` says that they are the user's choice."""
        made = super().__new__(cls, names)
        made.are_named = are_named
        return made


@dataclass(frozen=True)
class Asked:
    """What was asked of `explain`, which states the parameters.

    Parameters
    ----------
    method : str
        Name of the method, with underscores.
    options : dict
        Options of the method; of "auto" these are `objective` and `time_limit`.
    limits : dict
        The parts of a `Budget`, by name, as they were given.
    progress : function
        What `verbose` asks for.
    """

    method: str
    options: dict[str, Any]
    limits: dict[str, Any]
    n_clusters: int | None
    max_leaf_nodes: int | None
    names: Names | None
    sample_weight: Any
    random_state: Any
    columns: Sequence[str] | None
    standardize: bool
    missing: str
    validate: Validate | None
    n_jobs: int | None
    progress: Progress

    @classmethod
    def of(
        cls,
        *,
        method: str = "auto",
        objective: str = "auto",
        time_limit: float | None = None,
        options: dict[str, Any] | None = None,
        limits: dict[str, Any],
        n_clusters: int | None = None,
        max_leaf_nodes: int | None = None,
        names: Names | None = None,
        sample_weight: Any = None,
        random_state: Any = None,
        columns: Sequence[str] | None = None,
        standardize: bool = False,
        missing: str = "drop",
        validate: Any = None,
        n_jobs: int | None = -1,
        verbose: Any = 0,
    ) -> Asked:
        """Return what is asked by the parameters of `explain`.

        Raises
        ------
        TypeError, ValueError
            If one of them has no value that `explain` knows. What depends on the table is checked later.
        """
        name, of_method = method_with_options(method, objective, time_limit, options or {})
        validate, progress = checked_validate(validate), as_progress(verbose)
        refuse_unknown("missing", missing, ("drop", "refuse"))
        n_threads(n_jobs)  # refuses what is no number of threads
        if max_leaf_nodes is not None and not (isinstance(max_leaf_nodes, Integral) and max_leaf_nodes >= 2):
            raise ValueError(
                f"max_leaf_nodes must be a whole number of at least 2, or None; got {shown(max_leaf_nodes)}"
            )
        if standardize not in (False, True):
            raise TypeError(f"standardize must be True or False, got {shown(standardize)}")
        return cls(
            method=name,
            options=of_method,
            limits=limits,
            n_clusters=n_clusters,
            max_leaf_nodes=max_leaf_nodes,
            names=names,
            sample_weight=sample_weight,
            random_state=0 if random_state is None else random_state,
            columns=columns,
            standardize=standardize,
            missing=missing,
            validate=validate,
            n_jobs=n_jobs,
            progress=progress,
        )
