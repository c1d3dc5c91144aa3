"""Graphs on disk: partitions that one process can hold, built from edge lists that none can.

A store is a directory. Its nodes are renumbered: partition p owns the *store rows* ``starts[p]`` to ``starts[p + 1]``,
and within a partition the nodes keep the order of their ids. Everything in the store speaks of store rows; ids are what
the user's files and results speak of.

::

    store.json                    the manifest, written last: counts, how it was partitioned, files with SHA-256
    rows.npy                      the store row of each id (absent where they are equal, that is, with by="id")
    part-00007/pointers.npy       CSR row pointers, int64
    part-00007/columns.npy        CSR columns, int32: c < rows is a row of this partition, rows + k is halo node k
    part-00007/halo.npy           each halo node's row within the partition that owns it, grouped by owner, int32
    part-00007/halo_pointers.npy  where each owner's group begins in halo.npy, int64
    part-00007/ids.npy            the id of each row, int64 (absent with by="id")
    part-00007/loops.npy          whether each row has a loop (absent if none has); loops are not among the columns
    tables/NAME/part-00007.parquet  a table (nodes, answers, ...) with the column node, an id, ordered by store rows
    tables/NAME/table.json        the table's manifest

Edges have no weights. Row i holds what node i receives, as in :mod:`privet.graph.operators`.

:func:`build_store` writes a store out of core, :class:`GraphStore` reads it, :func:`write_table` adds a table whose
rows may come in any order, and :func:`write_blocks` one that is made partition by partition.
"""

from privet.data.store.building import build_store
from privet.data.store.manifest import Manifest
from privet.data.store.reading import GraphStore, StoredPartition
from privet.data.store.tables import StoredTable, open_table, write_blocks, write_table

__all__ = [
    "GraphStore",
    "Manifest",
    "StoredPartition",
    "StoredTable",
    "build_store",
    "open_table",
    "write_blocks",
    "write_table",
]
