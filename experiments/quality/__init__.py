"""The fixed benchmark of selection quality: a configuration -> stored rows -> docs/quality.md.

In: `config.toml` and datasets. Out: Parquet files, one per dataset, and a page. Start with `run.py`.
"""
