"""The tables of a store. No table has a place for a network address."""

from __future__ import annotations

import sqlalchemy as sa

__all__ = [
    "CONFLICTS", "ERASED", "EXPIRED", "LEASES", "METADATA", "MODELS", "PUBLIC", "REJECTIONS", "REPORTS", "REVOKED",
    "STUDIES", "TRACES",
]  # fmt: skip

METADATA = sa.MetaData()
STUDIES = sa.Table(
    "studies",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.String(64), unique=True, nullable=False),
    sa.Column("manifest", sa.LargeBinary, nullable=False),
    sa.Column("closed", sa.BigInteger),
    sa.Column("chain", sa.String(64), nullable=False, index=True),
)
PUBLIC = sa.Table(
    "public",
    METADATA,
    sa.Column("digest", sa.String(80), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
REPORTS = sa.Table(
    "reports",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("node", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
CONFLICTS = sa.Table(  # no hash of what was refused: reports are so short that a hash tells which one it was
    "conflicts",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("node", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("minute", sa.BigInteger, nullable=False),
)
REJECTIONS = sa.Table(
    "rejections",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("reason", sa.String(40), primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
)
REVOKED = sa.Table(
    "revoked",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("node", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("serial", sa.BigInteger, primary_key=True, autoincrement=False),
)
MODELS = sa.Table(
    "models",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("study", sa.Integer, nullable=False, index=True),
    sa.Column("document", sa.Text, nullable=False),
)
ERASED = sa.Table(  # tombstones: whose reports were erased, and must not come back
    "erased",
    METADATA,
    sa.Column("chain", sa.String(64), primary_key=True),
    sa.Column("node", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.BigInteger, nullable=False),
    sa.Column("by", sa.String(20), nullable=False),
)
TRACES = sa.Table(  # deletions whose bytes may still be in free space of the database's files
    "traces",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sqlite_autoincrement=True,
)
EXPIRED = sa.Table(  # what is left of a round after its retention: counts
    "expired",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.BigInteger, nullable=False),
    sa.Column("reports", sa.BigInteger, nullable=False),
    sa.Column("conflicts", sa.BigInteger, nullable=False),
)
LEASES = sa.Table(  # the last lease on computing the next round
    "leases",
    METADATA,
    sa.Column("chain", sa.String(64), primary_key=True),
    sa.Column("round", sa.Integer, nullable=False),
    sa.Column("since", sa.BigInteger, nullable=False),
    sa.Column("renewed", sa.BigInteger, nullable=False),
    sa.Column("problem", sa.Text, nullable=False),
)
