"""The papers' bounds as numbers, certificates of single trees, and the papers' worst cases as generators."""

from boxwood.theory import bounds, instances
from boxwood.theory._certificate import Certificate, certificate
from boxwood.theory.bounds import Bound, Condition
from boxwood.theory.instances import Instance

__all__ = ["Bound", "Certificate", "Condition", "Instance", "bounds", "certificate", "instances"]
