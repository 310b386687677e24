"""The experiments of the papers, run again: one page with every table and figure, the paper's numbers beside ours.

`python -m benchmarks.papers` writes `papers_report/index.md` and its pictures, `--out FOLDER` elsewhere; `--only 000
001` runs some papers, `--quick` takes fewer rows, seeds and settings. Pictures need matplotlib. The papers:

000
    "Explainable Clustering Beyond Worst-Case Guarantees": Tables 1 and 2, Figures 1 and 2, Theorem 5.
001
    "Decision Trees for Interpretable Clusters in Mixture Models and Deep Representations": Table 1, Figures 1, 2, 3, 5
    and 6.
001-deep
    The same, Table 2 and Figure 4: clusters of embeddings explained by concepts. The row of MNIST, and stand-ins for
    the others. Networks are trained where torch is installed, and embeddings are kept in the folder that
    BOXWOOD_CACHE names, or in `~/.cache/boxwood`; `--quick` needs neither.
002
    "Near-optimal Algorithms for Explainable k-Medians and k-Means": Figures 1 to 4, prices on the instances of
    Theorems 8.1 and 8.4 as k grows, and the growth of Theorem 7.1.
003
    Lecture slides on k-means: Figure 3 (IMM split by split), Lloyd's local optimum and costs, k-means++, consistency.
004
    "Explaining Kernel Clustering via Decision Trees": Tables 1 and 2, Figures 1 to 6.

An experiment returns `report.Section`s, data and no Markdown; `page` alone writes. The rules by which a printed number
counts as reproduced are in `report`. The papers leave settings open (scaling, parameters of the clusterers, seeds): an
experiment chooses them as the paper describes and judges over ten seeds. Beside that it tells which of many settings
comes closest, which judges nothing. What the papers print wrongly is listed in `errata`.

Data are read from the folder that BOXWOOD_DATA names, or from `../shared/data` beside the project: `NAME.csv.gz`, a
header line, numeric columns, the true class in a last column `label`. A file that is not there is said on the page.
"""
