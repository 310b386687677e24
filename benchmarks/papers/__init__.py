"""The experiments of the papers, run again: each number of the paper beside ours, with the settings used.

`python -m benchmarks.papers` runs all, `--only 000 001` some; `--markdown` prints tables for a page, `--quick` takes
fewer rows and runs, `--plots FOLDER` draws the figures where matplotlib is installed. The papers:

000
    "Explainable Clustering Beyond Worst-Case Guarantees", section 6: Tables 1 and 2.
001
    "Decision Trees for Interpretable Clusters in Mixture Models and Deep Representations": Table 1, Figure 3 (right)
    and Figure 6.
001-deep
    The same, Table 2 and Figure 4: clusters of embeddings explained by concepts. The row of MNIST, and stand-ins for
    the others. Networks are trained where torch is installed (about five minutes on one core), and embeddings are kept
    in the folder that BOXWOOD_CACHE names, or in `~/.cache/boxwood`; `--quick` needs neither.
002
    "Near-optimal Algorithms for Explainable k-Medians and k-Means": Figure 1 with later results, prices on the
    instances of Theorems 8.1 and 8.4 as k grows, and the growth of Theorem 7.1.
003
    Lecture slides on k-means: Figure 3 (IMM split by split), Lloyd's local optimum and costs, k-means++, consistency.
004
    "Explaining Kernel Clustering via Decision Trees": Table 2, the bars of Figure 4, and the shapes and histograms of
    Figures 1, 3 and 6.

The papers leave settings open (scaling, parameters of the clusterers, seeds, which cost), so a small grid of them is
tried and each row says which setting comes closest, and whether any comes close.

Data are read from the folder that BOXWOOD_DATA names, or from `../shared/data` beside the project: `NAME.csv.gz`, a
header line, numeric columns, the true class in a last column `label`. A file that is not there is a row that says so.
"""
