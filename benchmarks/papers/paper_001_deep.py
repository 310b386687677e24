""" "Decision Trees for Interpretable Clusters in Mixture Models and Deep Representations": Table 2, and stand-ins."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score
from sklearn.tree import DecisionTreeClassifier

from benchmarks.papers import plots
from benchmarks.papers.deep import sources
from benchmarks.papers.deep.sources import Source
from benchmarks.papers.report import Line, Number, Options, Report, Section, absent, numbers
from boxwood import MMDT, ConceptMMDT
from boxwood.concepts import ConceptProjector, concept_baseline, concept_report, concept_text

__all__ = ["sections"]

MNIST = ("0.68", "0.32", "0.36")  # adjusted Rand index of the base, Concept-MMDT and Concept-CART
MNIST_SECONDS = ("0.00722", "0.12240")
CIFAR = {
    (6, 7, 9): ("0.51", "0.48", "0.55"),
    (6, 7, 8, 9): ("0.53", "0.46", "0.58"),
    (1, 3, 4, 6, 8): ("0.57", "0.42", "0.62"),
}
AWA2 = ("0.93", "0.51", "0.97")
NAMES = ("base", "Concept-MMDT", "Concept-CART")
EXAMPLES = 2_000  # digits that concepts are learned from, beside meaningless ones
NO_EMBEDDINGS = "no embeddings: data or torch are not there"


def sections(options: Options) -> Iterator[Section]:
    """Yield Table 2, with what meaningless concepts reach and stand-ins for the rows that cannot be had; Figure 4."""
    source = sources.digits() if options.quick else sources.mnist()
    stand_in = "stand-in: digits of scikit-learn 1,797 x 10, principal axes"
    words = stand_in if options.quick else "MNIST 60,000 x 10, VaDE"
    tables = (*_two_tables(source, words), _meaning(source, words, 10 if options.quick else 100), _stand_ins(options))
    need = "its images, the trained networks and BRODEN cannot be had here and would be needed; a stand-in is below"
    yield Section(
        "001-deep",
        "Table 2",
        "adjusted Rand index with the true classes of the base, Concept-MMDT and Concept-CART; seconds of the trees",
        (
            _mnist(None if options.quick else source, options),
            *(absent(f"CIFAR-10 {classes}", _named(scores), need) for classes, scores in CIFAR.items()),
            absent("AwA2 (0, 14, 21)", _named(AWA2), need),
        ),
        tables,
    )
    yield _figure_4(options)


def _named(scores: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(zip(NAMES, scores, strict=True))


class Scored(NamedTuple):
    """Adjusted Rand index with the true classes of the base, Concept-MMDT and Concept-CART; seconds of the trees."""

    scores: tuple[float, float, float]
    seconds: tuple[float, float]


def _scored(source: Source, examples: np.ndarray, concepts: dict[str, np.ndarray]) -> Scored:
    projector = ConceptProjector().fit(examples, concepts)
    scores = projector.transform(source.Z)
    mmdt, seconds_mmdt = _timed(lambda: _concept_mmdt(projector, source))
    cart, seconds_cart = _timed(lambda: _cart(source).fit(scores, source.clusters))
    found = (source.clusters, mmdt.predict(source.Z), cart.predict(scores))
    base, of_mmdt, of_cart = (float(adjusted_rand_score(source.truth, labels)) for labels in found)
    return Scored((base, of_mmdt, of_cart), (seconds_mmdt, seconds_cart))


def _concept_mmdt(projector: ConceptProjector, source: Source) -> ConceptMMDT:
    """Return the tree from the parameters of the base's own mixture, else from its labels."""
    model = ConceptMMDT(FrozenEstimator(projector), axis="gap", threshold="midpoint", pooling="weighted")
    if source.mixture is not None:
        return model.fit_mixture(source.mixture)
    return model.fit(source.Z, source.clusters)


def _mmdt() -> MMDT:
    return MMDT(axis="gap", threshold="midpoint", pooling="weighted")


def _cart(source: Source) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_leaf_nodes=len(np.unique(source.clusters)), random_state=0)


def _timed(make: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    made = make()
    return made, time.perf_counter() - start


# -------------------------------------------------------------------------------------------------------- MNIST


def _mnist(source: Source | None, options: Options) -> Line:
    """Return the row of MNIST, judged over the draws of concept examples."""
    if source is None:
        need = "a quick run trains no network" if options.quick else f"{NO_EMBEDDINGS}; both would be needed"
        return absent("MNIST 60,000 x 10, VaDE", _named(MNIST), need)
    drawn = [_scored(source, *draw) for draw in source.draws()]
    columns = zip(*(one.scores for one in drawn), strict=True)
    seconds = zip(NAMES[1:], MNIST_SECONDS, zip(*(one.seconds for one in drawn), strict=True), strict=True)
    return Line(
        "MNIST 60,000 x 10, VaDE",
        f"concepts learned from {sources.EACH} examples with and without, {sources.DRAWS} draws",
        (
            *(Number(*one, of) for *one, of in zip(NAMES, MNIST, columns, strict=True)),
            *(Number(f"seconds of {name}", printed, of, judged=False) for name, printed, of in seconds),
        ),
        why="the paper's network, its seed and the examples of its concepts are not printed, and would be needed; one "
        "network was trained here",
    )


def _two_tables(source: Source | None, words: str) -> tuple[Report, ...]:
    """Return the digits under the printed table of concepts, and under one in which 2 has no loop."""
    header = ("data", "concepts", "ours, mean", "standard deviation over draws")
    title = "Adjusted Rand index with the digits, base / Concept-MMDT / Concept-CART"
    if source is None:
        return (Report(title, header, ((words, NO_EMBEDDINGS, "-", "-"),)),)
    rows = []
    for listed, concepts in (("of the table", source.concepts), ("2 has no loop", _without_two(source))):
        drawn = [_scored(source, *draw) for draw in replace(source, concepts=concepts).draws()]
        scores = np.array([one.scores for one in drawn])
        rows.append((words, listed, numbers(scores.mean(axis=0), 3), numbers(scores.std(axis=0), 3)))
    remarks = (
        f"VaDE: encoder {sources.VADE[0]}, 10 latents, {sources.VADE[1][0]} epochs as an autoencoder and "
        f"{sources.VADE[1][1]} as VaDE, seed 0, one thread; base: a Gaussian mixture with full covariances on the "
        "latents, its own parameters for Concept-MMDT, its labels for Concept-CART with 10 leaves",
        "the table of Crabbé and van der Schaar puts a loop into the 2, many digits have none",
        "curvature is the complement of vertical, so four concepts span three directions; the concepts put ten digits "
        f"into five groups, so one who sees them all reaches an index of {_ceiling(source):.3f} and no more",
    )
    return (Report(title, header, tuple(rows), remarks),)


def _without_two(source: Source) -> dict[str, np.ndarray]:
    loop = np.where(source.truth == 2, 0.0, source.concepts["loop"])
    return {**source.concepts, "loop": loop}


def _ceiling(source: Source) -> float:
    signatures = np.array(list(source.concepts.values())).T @ 2 ** np.arange(len(source.concepts))
    return float(adjusted_rand_score(source.truth, signatures))


def _meaning(source: Source | None, words: str, draws: int) -> Report:
    """Return what concepts without meaning reach on the digits."""
    header = ("meaningless concepts", "tree", "the concepts", "meaningless, 5% / median / 95%", "p")
    title = f"How much of it is the concepts ({words})"
    if source is None:
        return Report(title, header, ((NO_EMBEDDINGS, *["-"] * 4),))
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(source.Z))[: 10 * EXAMPLES]
    shown = rows[:EXAMPLES]
    concepts = {name: values[shown] for name, values in source.concepts.items()}
    given = {"examples": source.Z[shown], "concepts": concepts, "groups": source.groups[shown]}
    found = []
    for null in ("rename", "directions", "examples"):
        for name, tree in (("Concept-MMDT", _mmdt()), ("Concept-CART", _cart(source))):
            one = concept_baseline(
                ConceptProjector(), tree, source.Z[rows], source.clusters[rows], truth=source.truth[rows],
                null=null, n_draws=draws, random_state=0, **given,
            )  # fmt: skip
            quantiles = np.quantile(one.draws, [0.05, 0.5, 0.95]).tolist()
            found.append((null, name, f"{one.observed:.3f}", numbers(quantiles, 3), f"{one.p_value:.2f}"))
    remarks = (
        f"{draws} draws; concepts learned from {len(shown):,} digits, trees grown and scored on {len(rows):,}",
        "rename: digits exchanged behind the same table, which keeps sizes, overlaps and complements (the strictest); "
        "directions: random vectors; examples: shuffled labels, as TCAV does",
        "the labels are functions of the digit, so each concept is a classifier of digits, and most of the index comes "
        "from projecting on some directions that part the clusters: an index alone says nothing of meaning",
    )
    return Report(title, header, tuple(found), remarks)


# ---------------------------------------------------------------------------------------------------- stand-ins


def _stand_ins(options: Options) -> Report:
    header = ("stand-in", "for", "paper, on other data", "ours", "ours, to the base", "directions, MMDT", "reliable")
    rows = [_stand_in("simulated animals 2,236 x 64", "AwA2 (0, 14, 21)", AWA2, sources.awa2_simulated())]
    if not options.quick:
        for seed in (0, 1):
            rows.append(_stand_in(f"coloured shapes 800, seed {seed}", "CIFAR-10", (), sources.shapes(seed)))
        for classes, scores in CIFAR.items():
            words = f"300 photographs each, classes {classes}"
            rows.append(_stand_in(words, f"CIFAR-10 {classes}", scores, sources.cifar(classes)))
    remarks = (
        "stand-ins: images of AwA2, the networks and BRODEN cannot be had here, so nothing in this table reproduces a "
        "row of the paper; it shows the same steps on other embeddings and other concepts",
        "ours: base / Concept-MMDT / Concept-CART with the true classes; to the base: the trees with the clusters; "
        "directions: median and 95% of Concept-MMDT to the base on as many random directions, 50 draws",
        "reliable: concepts whose cross-validated score and significance pass, of all; trees cut on these alone",
        "simulated animals: a random linear map of the 85 predicates of the class, with noise; five colours as "
        "continuous concepts, learned on all 50 classes",
        "coloured shapes: colours learned from textures, shapes from grey outlines; size and place as decoys; "
        "contrastive clustering, 8 epochs; photographs: 10 epochs, eight concepts measured in pixels",
    )
    return Report("Stand-ins for AwA2 and CIFAR-10", header, tuple(rows), remarks)


def _stand_in(words: str, row: str, paper: tuple[str, ...], source: Source | None) -> tuple[str, ...]:
    shown = " / ".join(paper) if paper else "-"
    if source is None:
        return (words, row, shown, NO_EMBEDDINGS, "-", "-", "-")
    projector = ConceptProjector().fit(source.examples, source.concepts)
    report = concept_report(projector, source.examples, source.concepts, random_state=0)
    reliable = f"{report.reliable.sum()} of {len(report.reliable)}"
    if not report.reliable.any():
        return (words, row, shown, "no concept is reliable", "-", "-", reliable)
    kept = {name: source.concepts[name] for name in np.array(report.name)[report.reliable]}
    scored = _scored(source, source.examples, kept)
    to_base = replace(source, truth=source.clusters)
    null = concept_baseline(
        ConceptProjector(), _mmdt(), source.Z, source.clusters, examples=source.examples, concepts=kept,
        null="directions", n_draws=50, random_state=0,
    )  # fmt: skip
    agreement = _scored(to_base, source.examples, kept).scores[1:]
    directions = numbers(np.quantile(null.draws, [0.5, 0.95]).tolist())
    return (words, row, shown, numbers(scored.scores), numbers(agreement), directions, reliable)


def _figure_4(options: Options) -> Section:
    """Return what the report says of predicates, the tree on them, and clusters by the two colours of the figure."""
    why = "not reproduced: images of AwA2 and the trained network cannot be had here and would be needed"
    prints = "clusters of AwA2 by the concepts red and yellow, and the two cuts of Concept-MMDT"
    header = ("concept", "R²", "adjusted p", "stability", "nearest twin (cosine)", "determined by the class")
    title = "Predicates of AwA2 as continuous concepts, on simulated animals (a stand-in)"
    source = sources.awa2_simulated()
    if source is None:
        return Section("001-deep", "Figure 4", prints, verdict=f"{why}; awa2_predicates.csv.gz is not there, either")
    projector = ConceptProjector().fit(source.examples, source.concepts)
    report = concept_report(projector, source.examples, source.concepts, groups=source.groups, random_state=0)
    rows = tuple(
        (
            name,
            f"{report.score[j]:.2f}",
            f"{report.p_adjusted[j]:.3f}",
            f"{report.stability[j]:.2f}",
            f"{report.twin[j]} ({report.twin_cosine[j]:.2f})",
            f"{report.determined_by_groups[j]:.2f}",
        )
        for j, name in enumerate(report.name)
    )
    tree = concept_text(_concept_mmdt(projector, source), report)
    table = Report(
        title,
        header,
        rows,
        (
            "a predicate is a label of the class: among antelope, leopard and fox, red and orange say fox, black and "
            "yellow say leopard, brown says no antelope; a tree on them decides on classes, which may be how "
            "Concept-CART comes to lie above its base in the paper",
            "the tree of Concept-MMDT, which in the paper cuts on red and yellow: " + " / ".join(tree.splitlines()),
        ),
    )
    shown = projector.transform(source.Z)[:, [report.name.index("red"), report.name.index("yellow")]]
    panel = plots.Panel("simulated animals by red and yellow", source.clusters, None)
    picture = plots.regions(options.out, "001_figure_4.png", shown, [panel])
    return Section("001-deep", "Figure 4", prints, tables=(table,), pictures=(picture,), verdict=why)
