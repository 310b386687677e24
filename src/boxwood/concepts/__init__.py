"""Concepts: directions in a space of embeddings that have a name, and trees that cut along them.

Use it if you have embeddings of images, texts or cells, a clustering of them, and labelled examples of some concepts.
You get a tree whose cuts are concepts::

    projector = ConceptProjector().fit(Z_examples, concepts)       # one column of `concepts` for each concept
    report = concept_report(projector, Z_examples, concepts)       # look before you cut
    print(report)
    projector = projector.select(report.reliable)
    tree = ConceptMMDT(projector).fit(Z, labels)
    print(concept_text(tree))
    print(*unseparated_pairs(tree.mixture_, tree.concept_names_))  # clusters that no concept separates

A high score of such a tree does not show that the concepts explain the clusters, for two reasons.

- A concept that is a function of the class (digits with a loop, animals that are red) can be a classifier of classes in
  disguise: a tree that cuts on it decides by class, but seems to give an explanation. Table 2 of the paper reports the
  agreement of such trees with true classes. `concept_report` measures how far groups determine a concept.
- Any few directions that separate clusters give a tree that agrees with them to some degree: four random directions
  reach most of the score of the four concepts of handwritten digits. `concept_baseline` measures the score of
  meaningless concepts.

The score that TCAV gives a concept for a class is not here: it is a derivative of a logit, and a clustering has none.

What functions return can be imported from here for type hints: `ConceptReport`, `ConceptBaseline`, `ChosenConcepts`,
`PairGap`.

B. Kim et al., "Interpretability Beyond Feature Attribution: Quantitative Testing with Concept Activation Vectors", ICML
2018. M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
Representations", Algorithm 2.
"""

from boxwood.concepts._baseline import ConceptBaseline as ConceptBaseline
from boxwood.concepts._baseline import concept_baseline
from boxwood.concepts._choosing import ChosenConcepts as ChosenConcepts
from boxwood.concepts._choosing import PairGap as PairGap
from boxwood.concepts._choosing import choose_concepts, project, unseparated_pairs
from boxwood.concepts._latents import extract_latents
from boxwood.concepts._report import ConceptReport as ConceptReport
from boxwood.concepts._report import concept_report
from boxwood.concepts._table import stack_concepts
from boxwood.concepts._trees import concept_text, make_concept_tree
from boxwood.concepts.projector import ConceptProjector

__all__ = [
    "ConceptProjector",
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
