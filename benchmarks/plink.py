"""Genotypes in a .bed file -> bit planes, compared with decoding them first."""

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.internals import memory_taken, peak_memory, value_planes
from benchmarks.timing import seconds
from slfs.files import PlinkColumns, write_plink

SHAPE = (10_000, 100_000)
"""People and variants."""


def plink():
    """PLINK .bed of 100000 variants x 10000 people (250 MB) to bit planes, two cores."""
    try:
        from bed_reader import open_bed
    except ImportError as error:
        raise FileNotFoundError("bed-reader is not installed") from error
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cohort.bed"
        make_file(path, *SHAPE)
        value_planes(PlinkColumns(path, drop=[f"v{j}" for j in range(200, SHAPE[1])]), n_jobs=2)  # warm
        found, before = {}, memory_taken()

        def straight():
            found["planes"] = value_planes(PlinkColumns(path), n_jobs=2)

        def decoded():
            with open_bed(path, num_threads=2) as file:
                genotypes = file.read(dtype="int8", order="F")
            levels = genotypes.view(np.uint8)
            levels[genotypes == -127] = 3  # a level after 0, 1 and 2
            found["decoded"] = value_planes(levels, n_jobs=2)

        ours = seconds(straight)
        peak = peak_memory() - before
        size = found["planes"].arrays.words.nbytes
        ours = min(ours, seconds(straight))
        theirs = min(seconds(decoded) for _ in range(2))
        for name in ("words", "levels", "class_counts"):
            one, other = (getattr(found[key].arrays, name) for key in ("planes", "decoded"))
            np.testing.assert_array_equal(one, other)
    what = f"file to planes, peak {peak / size:.2f} x planes"
    return [(what, ours, "bed-reader to int8, then slfs", theirs)]


def make_file(path, n_people, n_variants):
    """Write a .bed file; its variants are some random ones, rotated."""
    random = np.random.default_rng(0)
    frequency = random.uniform(0.05, 0.5, 50)
    genotypes = random.binomial(2, frequency, (n_people, 50)).astype(float)
    genotypes[random.random(genotypes.shape) < 0.01] = np.nan
    write_plink(path, genotypes)
    rows = np.frombuffer(path.read_bytes()[3:], np.uint8).reshape(50, -1)
    with path.open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for variant in range(n_variants):
            file.write(np.roll(rows[variant % 50], variant).tobytes())
    lines = (f"1\tv{j}\t0\t{j + 1}\tA\tG\n" for j in range(n_variants))
    path.with_suffix(".bim").write_text("".join(lines))
