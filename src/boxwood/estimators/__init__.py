"""The growers as scikit-learn estimators."""

from boxwood.estimators._cart import CART
from boxwood.estimators._exkmc import ExKMC
from boxwood.estimators._expand import Expand
from boxwood.estimators._imm import IMM
from boxwood.estimators._mmdt import MMDT

__all__ = ["CART", "IMM", "MMDT", "ExKMC", "Expand"]
