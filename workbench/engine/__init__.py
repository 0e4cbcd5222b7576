"""How the network runs on Spark: one shared operator per local tree, deltas as Z-sets, lineage as bits.

See ``docs/design/batch.md``.
"""
