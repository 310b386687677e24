"""Concepts: directions in a space of embeddings that people have a word for, and trees that cut along them.

Somebody with embeddings of images, texts or cells, a clustering of them and a few labelled examples of concepts gets a
tree whose cuts are concepts::

    projector = ConceptProjector().fit(Z_examples, concepts)       # one column of `concepts` for each concept
    report = concept_report(projector, Z_examples, concepts)       # look before you cut
    print(report)
    projector = projector.select(report.reliable)
    tree = ConceptMMDT(projector).fit(Z, labels)
    print(concept_text(tree))
    print(*unseparated_pairs(tree.mixture_, tree.concept_names_))  # clusters that it tells apart by chance

What a high score does not show. Table 2 of the paper reports the agreement of such trees with true classes. Concepts
there that are functions of the class (digits with a loop, animals that are red) are classifiers of classes in disguise:
a tree on them decides on classes, and seems to explain them. And a tree agrees with clusters to some degree on any
directions that part them: four random directions reach most of what the four concepts of handwritten digits do. So
`concept_report` tells how far groups determine a concept, and `concept_baseline` what meaningless concepts reach.

The score that TCAV gives a concept for a class is not here: a clustering has no logit to differentiate.

B. Kim et al., "Interpretability Beyond Feature Attribution: Quantitative Testing with Concept Activation Vectors", ICML
2018. M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
Representations", Algorithm 2.
"""

from boxwood.concepts._baseline import ConceptBaseline, concept_baseline
from boxwood.concepts._choose_concepts import ChosenConcepts, choose_concepts
from boxwood.concepts._concept_tree import make_concept_tree
from boxwood.concepts._latents import extract_latents
from boxwood.concepts._project_mixture import project
from boxwood.concepts._projector import ConceptProjector
from boxwood.concepts._report import ConceptReport, concept_report
from boxwood.concepts._separation import PairGap, unseparated_pairs
from boxwood.concepts._stack_concepts import stack_concepts
from boxwood.concepts._text import concept_text

__all__ = [
    "ChosenConcepts",
    "ConceptBaseline",
    "ConceptProjector",
    "ConceptReport",
    "PairGap",
    "choose_concepts",
    "concept_baseline",
    "concept_report",
    "concept_text",
    "extract_latents",
    "make_concept_tree",
    "project",
    "stack_concepts",
    "unseparated_pairs",
]
