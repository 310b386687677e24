"""Text of trees and explanations: computes nothing from data."""

from boxwood.render._rules import rules
from boxwood.render._text import text

__all__ = ["rules", "text"]
