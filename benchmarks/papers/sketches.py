"""The drawings of the papers that explain and measure nothing: pictures of our own that show the same."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

import boxwood as bw
from benchmarks.papers import plots
from benchmarks.papers.report import Options, Report, Section
from boxwood import grow, render
from boxwood.axes import TaylorFeatures, TerminalEmbedding
from boxwood.theory import instances

__all__ = [
    "distribution_tree", "embedding", "largest_gap", "mixture_and_tree", "overview", "prototype", "random_cuts_of_l1",
    "random_cuts_of_l2", "straight_cut", "taylor_curves", "two_aims",
]  # fmt: skip

MEANS = np.array([[-3.0, -1.0], [2.0, 2.5], [2.5, -2.5]])
SPREADS = np.array([[0.8, 1.4], [1.2, 0.7], [1.0, 0.9]])


def _three_components(n: int = 900) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    component = rng.integers(3, size=n)
    return MEANS[component] + SPREADS[component] * rng.normal(size=(n, 2)), component


# ------------------------------------------------------------------------------------------- the mixture papers


def mixture_and_tree(options: Options) -> Section:
    """000, Figure 1: three components and a tree."""
    X, component = _three_components()
    tree = grow.mmdt(bw.Mixture.of(X, component), axis="range", threshold="gaussian", pooling="weighted")
    picture = plots.regions(options.out, "000_figure_1.png", X, [plots.Panel("MMDT", component, tree)])
    return Section("000", "Figure 1", "a drawing of three components and a tree of two cuts", pictures=(picture,))


def prototype(options: Options) -> Section:
    """000, Figure 2: a cut around a prototype."""
    rng = np.random.default_rng(0)
    component = rng.integers(2, size=600)
    X = rng.normal(size=(600, 2)) * (1.5, 0.4)
    X[component == 1, 1] += rng.choice([-3.0, 3.0], size=(component == 1).sum())
    model = bw.KernelMMDT(kernel="gaussian", gamma=0.5, axis="similarity", prototype="sample", random_state=0)
    model.fit(X, component)
    (cut,) = model.cuts_
    picture = plots.regions(options.out, "000_figure_2.png", X, [plots.Panel("Kernel MMDT", component, model.tree_)])
    return Section(
        "000",
        "Figure 2",
        "a drawing of two components that the distance to a drawn row parts on the second axis",
        pictures=(picture,),
        remarks=(f"ours: x{cut.feature} within {cut.radius:.2f} of the prototype's {cut.prototype:.2f}, or not",),
    )


def two_aims(options: Options) -> Section:
    """001, Figure 1: a tree for clusters of k-means, and one that recovers a mixture."""
    X, _ = _three_components()
    model = KMeans(3, n_init=10, random_state=0).fit(X)
    imm = grow.imm(X, bw.Reference.from_estimator(model, X))
    gaussians = GaussianMixture(3, random_state=0).fit(X)
    tree = grow.mmdt(bw.Mixture.from_gaussian_mixture(gaussians), axis="gap", threshold="midpoint", pooling="weighted")
    panels = [
        plots.Panel("k-means, IMM", model.labels_, imm),
        plots.Panel("components, MMDT", gaussians.predict(X), tree),
    ]
    picture = plots.regions(options.out, "001_figure_1.png", X, panels)
    prints = "a drawing of both aims: little cost against k-means, and components recovered"
    return Section("001", "Figure 1", prints, pictures=(picture,))


def largest_gap(options: Options) -> Section:
    """001, Figure 2: a cut halfway along the largest gap of the means."""
    X, component = _three_components()
    mixture = bw.Mixture.of(X, component)
    tree = grow.mmdt(mixture, axis="gap", threshold="midpoint", pooling="weighted")
    picture = plots.regions(options.out, "001_figure_2.png", X, [plots.Panel("halfway", component, tree)])
    root = int(tree.feature[0])
    means = ", ".join(f"{value:.2f}" for value in sorted(mixture.means[:, root]))
    remark = f"ours: the root cuts x{root} at {tree.upper[0]:.2f}; the means there are {means}"
    prints = "a drawing of the cut halfway between two neighbouring means that are farthest apart"
    return Section("001", "Figure 2", prints, pictures=(picture,), remarks=(remark,))


def distribution_tree(options: Options) -> Section:
    """001, Figure 5: a tree that parts one mean after the other."""
    k = 5
    instance = instances.exponential_error(k, 8.0)
    tree = grow.mmdt(instance.mixture, axis="gap", threshold="midpoint", pooling="max")
    rows = tuple((line,) for line in render.text(tree).splitlines())
    table = Report(f"The tree of MMDT for the mixture of Theorem 3, K = {k}", ("tree",), rows)
    remark = f"every tree parts one mean at a cut: this one has depth {tree.depth} and cuts {len(tree.features)} axes"
    prints = "a drawing of a tree for the mixture of Theorem 3, which parts one mean at each cut"
    return Section("001", "Figure 5", prints, tables=(table,), remarks=(remark,))


# ---------------------------------------------------------------------------------------------------- random cuts


def random_cuts_of_l1(options: Options) -> Section:
    """002, Figure 2: the algorithm for k-medians in l1, and a tree of it."""
    return _random_cuts(options, "Figure 2", "l1", 'k-medians in l1: `grow.random_cuts(objective="l1")`')


def random_cuts_of_l2(options: Options) -> Section:
    """002, Figure 4: the algorithm for k-medians in l2, and a tree of it."""
    return _random_cuts(options, "Figure 4", "l2", 'k-medians in l2: `grow.random_cuts(objective="l2")`')


def _random_cuts(options: Options, item: str, objective: str, words: str) -> Section:
    centers = np.random.default_rng(0).random((8, 2))
    tree = grow.random_cuts(centers, objective=objective, random_state=0)
    panel = plots.Panel(f"random cuts, {objective}", np.arange(8), tree)
    name = f"002_{item.lower().replace(' ', '_')}.png"
    picture = plots.regions(options.out, name, centers, [panel])
    prints = f"the algorithm in pseudocode; ours for {words}, and a tree of it for eight centres"
    return Section("002", item, prints, pictures=(picture,))


def embedding(options: Options) -> Section:
    """002, Figure 3: the terminal embedding for the terminals 1, 3 and 5."""
    x = np.linspace(0, 6, 241)
    of = TerminalEmbedding([[1.0], [3.0], [5.0]])
    values = of.transform(x[:, None]).ravel()
    picture = plots.curves(options.out, "002_figure_3.png", x, {"terminals 1, 3, 5": values}, "image")
    images = ", ".join(f"{value:g}" for value in of.transform([[1.0], [3.0], [5.0]]).ravel())
    remark = f"ours: 1, 3 and 5 have the images {images}; half the sum of squared gaps, by the formula of section 6"
    prints = "the curve of the terminal embedding for the terminals 1, 3 and 5"
    return Section("002", "Figure 3", prints, pictures=(picture,), remarks=(remark,))


# -------------------------------------------------------------------------------------------------------- kernels


def overview(options: Options) -> Section:
    """004, Table 1: algorithms and the order of their worst price."""
    rows = (
        ("Kernel IMM, additive kernels", "O(k²)", '`grow.kernel_imm`, `features="additive"`'),
        ("Kernel IMM, interpretable Taylor kernels", "O(d k²)", '`grow.kernel_imm`, `features="taylor"`'),
        ("Kernel IMM, distance-based product kernels", "O(d k² C_data)", '`grow.kernel_imm`, `features="distance"`'),
        ("Kernel ExKMC from an empty tree", "unbounded", "`grow.expand(None, kernel=...)`"),
        ("Kernel Expand from an empty tree", "unbounded", '`grow.expand(None, kernel=..., objective="mistakes")`'),
    )
    table = Report("Algorithms", ("algorithm", "worst price, paper", "boxwood"), rows)
    prints = "cuts and orders of the worst price, which are statements and no measurements"
    return Section("004", "Table 1", prints, tables=(table,))


def taylor_curves(options: Options) -> Section:
    """004, Figure 2: Taylor features of one column; a threshold on a curve is an interval of the column."""
    x = np.linspace(0, 4, 241)
    features = TaylorFeatures([0.0], [4.0], [1.0], [5]).transform(x[:, None])
    lines = {f"feature {j}": features[:, j] for j in range(features.shape[1])}
    picture = plots.curves(options.out, "004_figure_2.png", x, lines, "value of the feature")
    remark = "ours: features of order 5 of a Gaussian kernel; each has one peak, so a threshold on it is an interval"
    prints = "a drawing of Kernel IMM: features of one column, a threshold on one, an interval of the column"
    return Section("004", "Figure 2", prints, pictures=(picture,), remarks=(remark,))


def straight_cut(options: Options) -> Section:
    """004, Figure 5: one threshold cut and the rows that it parts from their centre."""
    X, component = _three_components()
    kept = component > 0
    X = X[kept] + np.random.default_rng(1).normal(size=(kept.sum(), 2))
    reference = bw.Reference.of(X, component[kept] - 1)
    tree = grow.imm(X, reference)
    picture = plots.regions(options.out, "004_figure_5.png", X, [plots.Panel("one cut", reference.labels, tree)])
    wrong = int((tree.predict(X) != reference.labels).sum())
    remark = f"ours: {wrong} of {len(X)} rows are parted from their centre"
    prints = "a drawing of one threshold cut, with few rows in the leaf of the other centre"
    return Section("004", "Figure 5", prints, pictures=(picture,), remarks=(remark,))
