"""What the papers print that is not right, what is right, and what boxwood does."""

from typing import NamedTuple

__all__ = ["ERRATA", "TITLES", "Erratum"]

TITLES = {
    "000": "Explainable Clustering Beyond Worst-Case Guarantees",
    "001": "Decision Trees for Interpretable Clusters in Mixture Models and Deep Representations",
    "002": "Near-optimal Algorithms for Explainable k-Medians and k-Means",
    "003": "Lecture slides on k-means",
    "004": "Explaining Kernel Clustering via Decision Trees",
}


class Erratum(NamedTuple):
    """A statement of a paper and its correction; `paper` is a key of `TITLES`."""

    paper: str
    place: str
    printed: str
    right: str
    boxwood: str


ERRATA = (
    Erratum("000", "Definition 2", "the explainability-to-noise ratio without the 1/2 of the other mixture paper",
            "both exist, and differ by a factor of exactly 2; constants belong to their own ratio",
            "one function with `convention`, and each bound takes its own"),
    Erratum("000", "after Assumption 3", "Gaussians have beta = 1", "beta = sqrt(pi / 2)",
            "the bounds use sqrt(pi / 2)"),
    Erratum("000", "Theorem 12, (134)-(136)", "max(1, ...), and a difference that is not squared",
            "min(1, ...), and the difference squared", "the bound on the kernel price has both"),
    Erratum("000", "Lemma 11", "tau <= sigma^2 - gamma^2 / (2d)",
            "false; tau <= 1 - (1 - sigma^2 + gamma^2 / 2) / d, and tau < sigma^2 is a condition, not a fact",
            "only the corrected bound is there; a test keeps the counterexample"),
    Erratum("001", "Algorithm 2", "sigma of a concept is the quadratic form of the covariance",
            "its square root", "concepts are projected with the square root"),
    Erratum("001", "Assumption 1", "sigma is the largest variance", "the largest standard deviation",
            "`sigma` is a standard deviation everywhere, `var` a variance"),
    Erratum("000", "equation (6)", "the row stands in the exponent", "the threshold stands there",
            "the Gaussian threshold minimises the corrected sum"),
    Erratum("000", "(57), (59), (61)", "an inequality of gaps turned round, and an optimum off the constraint",
            "2 delta_1 >= delta_k and delta_1 = R_1 / (2 K_1 - 1); the claim itself holds",
            "the claim for the minimum is tested"),
    Erratum("000", "Appendix A.2", "ratio 2d + M, and q >= 2 K^3", "ratio 2 (2d + M), and q >= 4 K^3",
            "the instance carries the corrected ratio"),
    Erratum("000", "(91)", "rows at the mean plus or minus q", "plus or minus 1", "the instance draws plus or minus 1"),
    Erratum("001", "Corollary 1", "(a - b)^2 >= a^2 - b^2",
            "false; the exponent is -(1 - delta) (sqrt(q) / (2K) - sqrt(delta))^2",
            "the bound from estimates has the corrected exponent"),
    Erratum("001", "(32)", "a bound on a normal tail from above is used from below, and e^(-q^2)",
            "an exact sum of normal tails, and e^(-q)", "the instance gives the exact error"),
    Erratum("002", "Figure 4", "R is the largest norm of a centre, and the cut is at m + sigma theta",
            "R is the largest distance to the median m, and the cut is at m + sigma sqrt(theta)",
            "random cuts for the Euclidean distance draw the corrected cut"),
    Erratum("002", "section 8", "optimal costs k d eps^2 and k eps sqrt(d)", "twice both; and sqrt(d / 12) in place of "
            "sqrt(d) / 12", "the instances carry exact costs"),
    Erratum("004", "Definition 3", "g(z) = exp(2z) for the Gaussian kernel", "g(z) = exp(2 gamma z)",
            "Taylor features have the bandwidth"),
    Erratum("004", "Appendix J", "price at least 1/2 + 2 (1 - 2e)^2 / (9 e^2)",
            "exactly 7/9 - 2 / (9e) + 1 / (9 e^2) with the means of the leaves", "tested as an equation"),
    Erratum("004", "algorithms; also the slides and 'Near-optimal Algorithms'", "k inner nodes, k iterations",
            "k - 1", "trees of k leaves have k - 1 cuts, and depth counts edges"),
    Erratum("004", "Proposition 1, Theorem 7", "the quadratic kernel on four points of the axes has no finite price",
            "its price is 1 with two-sided nodes; the points turned by 45 degrees do it",
            "the instance is turned"),
    Erratum("000", "(95); also (26) of the other mixture paper", "an error as an equation",
            "the last component is missing, so the printed value is a lower bound", "the instances give the exact sum"),
    Erratum("002", "Theorem 1.2, proof of 8.1", "the Euclidean cost", "the squared Euclidean cost",
            "`sqeuclidean` is the objective of k-means"),
    Erratum("000", "section 6; also Table 1 of the other mixture paper", "500,000, 100,000 and 5,000,000 rows",
            "cannot be told", "the tables are run on 100,000 and on 5,000,000 rows"),
    Erratum("004", "Appendix F.2", "the error of Taylor features is O(delta), from term M on",
            "2 n d delta, from term M + 1 on", "the bound is the corrected one"),
    Erratum("004", "Algorithms 2 and 3", "the node of least cost is split", "the node of largest gain",
            "expansions split by gain"),
    Erratum("001", "Algorithm 1", "begins with an empty node", "begins with all components",
            "MMDT begins with all components"),
    Erratum("000", "(38)", "beta is missing", "it stands from (71) on", "the bound has it"),
    Erratum("004", "Theorem 2, (11), Lemma 3, (12)", "strict signs and indices that do not match",
            "weak inequalities, and the centre of the row's own cluster", "costs and bounds follow the proofs"),
    Erratum("000", "section 5.3", "theta is a similarity and a distance", "a level, and a radius that belongs to it",
            "a cut around a prototype keeps both"),
    Erratum("004", "before Definition 3", "shifting rows does not matter",
            "true of the kernel, false of features cut off at order M", "features record their shift, and choose it"),
    Erratum("002", "Lemma 7.2, light cuts", "no clipping at R^2", "min(., R^2), and 1 / (2 d R^2)",
            "the separation probability is clipped"),
    Erratum("004", "Appendix C; also both mixture papers", "time that does not depend on the rows",
            "the number of candidate cuts does not; counting mistakes and fitting a mixture do",
            "times of growing and of fitting are told apart"),
    Erratum("000", "Claim 2, Theorems 4 and 8", "the bound goes through the middle of the largest gap",
            "true of the threshold that minimises, false of the middle from 10 components on",
            "`threshold=\"chebyshev\"` minimises; the certificate of a tree is summed over its own cuts"),
    Erratum("000", "Theorem 12, (131)-(133)", "the cut in the middle of the largest gap",
            "fails in the same way; that of a single cut is sound", "each cut around a prototype has its own bound"),
    Erratum("001", "Theorem 1", "one sigma that no component exceeds, with unequal variances",
            "averaging variances by weight does not give one", "`pooling=\"max\"` takes one that no component exceeds"),
)  # fmt: skip
