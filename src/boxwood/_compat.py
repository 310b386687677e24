"""The private names of scikit-learn that boxwood uses, in one place."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

__all__ = ["HasMethods", "Interval", "StrOptions", "fit_context", "steps_of_lloyd"]

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:  # scikit-learn does not say that a method stays what it is

    def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[F], F]:
        """Return a decorator of `fit` that checks the parameters of the estimator before."""
else:
    from sklearn.base import _fit_context as fit_context


def steps_of_lloyd() -> tuple[Callable[..., None], Callable[..., float]]:
    """Return the compiled step of k-means, `lloyd_iter_chunked_dense`, and the cost of clusters, `_inertia_dense`."""
    from sklearn.cluster._k_means_common import _inertia_dense
    from sklearn.cluster._k_means_lloyd import lloyd_iter_chunked_dense

    return lloyd_iter_chunked_dense, _inertia_dense
