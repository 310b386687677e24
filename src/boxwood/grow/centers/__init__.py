"""Trees that separate the centres of clusters, or the components of a mixture, with one leaf for each."""
