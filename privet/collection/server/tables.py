"""The tables of a store. No table has a place for a network address."""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["CONFLICTS", "METADATA", "MODELS", "REJECTIONS", "REPORTS", "REVOKED", "STUDIES"]

METADATA = sa.MetaData()
STUDIES = sa.Table(
    "studies",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.String(64), unique=True, nullable=False),
    sa.Column("manifest", sa.LargeBinary, nullable=False),
    sa.Column("closed", sa.BigInteger),
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
CONFLICTS = sa.Table(
    "conflicts",
    METADATA,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("node", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("minute", sa.BigInteger, nullable=False),
    sa.Column("digest", sa.LargeBinary(32), nullable=False),
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
