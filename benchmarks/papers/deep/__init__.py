"""Networks whose embeddings are clustered and explained, trained here with fixed seeds; torch is needed to train."""
