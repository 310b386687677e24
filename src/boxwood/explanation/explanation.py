"""Where `Explanation` once stood: pickles that were made then name this file."""

from boxwood.api.explanation import Explanation as Explanation
