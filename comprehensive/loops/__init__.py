"""Loop nests: the paper's source CFG, with a verifier, rewrites and a reference interpreter."""
