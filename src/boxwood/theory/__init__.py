"""The papers' bounds as numbers, what one tree certifies, and the papers' worst cases as generators."""

from boxwood.theory import bounds, instances
from boxwood.theory._bound import Bound, Condition
from boxwood.theory._certificate import Certificate, certificate
from boxwood.theory.instances import Instance, WeightedPoints

__all__ = ["Bound", "Certificate", "Condition", "Instance", "WeightedPoints", "bounds", "certificate", "instances"]
