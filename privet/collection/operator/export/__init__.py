"""Answers as files: one Parquet or CSV file, a directory of parts, and the public record of all rounds."""
