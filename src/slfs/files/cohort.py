"""A file of genotypes and a file about its samples -> a table with its target and covariates.

Needs pandas. The target is the phenotype of the first file, or a column of the second one.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from slfs.files.data_file import DataFile, find_column
from slfs.files.genotypes import GenotypeColumns, phenotypes
from slfs.files.limits import OPENERS
from slfs.files.matching import Labels, match
from slfs.files.plink import write_subset
from slfs.files.registry import ReadOptions, format_of_name, format_of_suffix

PHENOTYPE = "phenotype"
"""Name of the target that is in the file of genotypes itself."""

FAMILY, SAMPLE, SEX = "FID", "IID", "sex"
_IDS = (FAMILY, SAMPLE, f"#{FAMILY}", f"#{SAMPLE}")


def open_cohort(
    path: Path,
    table: GenotypeColumns,
    about: DataFile | None,
    *,
    target: str | None,
    ids: Sequence[str],
    drop: Sequence[str],
    covariates: Sequence[str],
) -> DataFile:
    """Match genotypes with a table about the samples, or use what the file itself says about them.

    Parameters
    ----------
    path : Path
        The file of genotypes.
    table : GenotypeColumns
    about : DataFile or None
        A table with one row per sample.
    target : str or None
        A column of ``about``, by default the first that is neither an id nor a covariate. "phenotype"
        is the phenotype of the file of genotypes.
    ids : sequence of str
        The column of the ids in ``about``; by default IID, or else its first column.
    drop : sequence of str
        Variants to leave out.
    covariates : sequence of str
        Columns of ``about`` to add to the genotypes, and "sex" of the file itself.
    """
    with path.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    source, notes, y, label = str(path), [], None, PHENOTYPE
    table = table.without([table.names[find_column(one, table.names, source)] for one in drop])
    if about is not None:
        table, y, label, note = _match(table, about, source, target, ids, covariates)
        notes.append(note)
    if SEX in covariates and SEX not in table.names:
        import pandas as pd

        every = np.arange(table.n_samples)
        table = table._of_samples(every, pd.DataFrame({SEX: table.samples.sex}))
    found = DataFile(table, y, source, label, fingerprint, table.names, [FAMILY, SAMPLE], notes)
    found = replace(found, read_originals=_originals(table, y, label))
    if about is None and target is not None and target != PHENOTYPE:
        raise ValueError(
            f"{source} has no target {target!r}. Pass a file with the column {target!r} and the ids of "
            "the samples as --targets-from, or leave --target out to use the phenotype of the file."
        )
    return own_phenotype(found) if y is None and target == PHENOTYPE else found


def own_phenotype(file: DataFile) -> DataFile:
    """Use the phenotype that a file of genotypes contains; samples without one are left out."""
    table: GenotypeColumns = file.X
    rows = np.flatnonzero(~np.isnan(table.phenotype))
    if len(rows) == 0:
        raise ValueError(
            f"All phenotypes in {file.name} are missing. Pass a file with the target and the ids of the "
            "samples: --target pheno.tsv."
        )
    notes = list(file.notes)
    if len(rows) < table.n_samples:
        notes.append(f"{table.n_samples - len(rows)} samples of {file.name} have no phenotype.")
    table = table._of_samples(rows)
    y = _as_labels(table.phenotype)
    originals = _originals(table, y, PHENOTYPE)
    return replace(file, X=table, y=y, target=PHENOTYPE, notes=notes, read_originals=originals)


def read_about(source: str, read: Callable[..., DataFile], missing: Sequence[str]) -> DataFile:
    """Read a table about samples: any format, or columns separated by spaces as PLINK writes them."""
    path = Path(source)
    known = format_of_suffix(path) is not None or path.suffix[1:] in OPENERS
    if not path.is_file() or (known and path.suffix != ".txt"):
        return read(source, missing=missing)
    text = path.read_text(encoding="utf-8")
    if known and set(",;") & set(text.partition("\n")[0]):
        return read(source, missing=missing)
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if lines and lines[0][0] not in _IDS:
        more = [f"{PHENOTYPE}_{number}" for number in range(1, len(lines[0]) - 1)]
        lines.insert(0, [FAMILY, SAMPLE, *more][: len(lines[0])])
    if len({len(line) for line in lines}) != 1:
        raise ValueError(f"The rows of {source} do not have the same number of columns.")
    content = "\n".join("\t".join(line) for line in lines).encode()
    form, options = format_of_name("tsv"), ReadOptions(missing)
    frame, original = (
        form.read(io.BytesIO(content), options)[0],
        form.original(io.BytesIO(content), options),
    )
    names = list(map(str, frame.columns))
    return DataFile(frame, None, source, "", "", names, read_originals=lambda wanted: original[wanted])


def is_variant_file(source: str, path: Path | None) -> bool:
    """Return whether a file of selected variants is wanted, from a file of genotypes."""
    return (
        path is not None
        and path.suffix.lower() in (".bed", ".snplist")
        and Path(source).suffix.lower() in (".bed", ".pgen")
    )


def write_variants(table: GenotypeColumns, path: Path, names: Sequence[str]) -> None:
    """Write selected variants: their genotypes (.bed), or their ids for --extract."""
    if path.suffix.lower() == ".bed":
        write_subset(table, path, names)
    else:
        table.write_list(path, names)


def _match(
    table: GenotypeColumns,
    about: DataFile,
    source: str,
    target: str | None,
    ids: Sequence[str],
    covariates: Sequence[str],
) -> tuple[GenotypeColumns, Any, str, str]:
    """Keep the samples that have a target; also return target, its name, and a note."""
    import pandas as pd

    frame = about.in_memory()
    names = about.names
    if ids:
        sample = names[find_column(ids[0], names, about.name)]
    else:
        sample = next((name for name in names if name.lstrip("#") == SAMPLE), names[0])
    family = next((name for name in names if name.lstrip("#") == FAMILY), None)
    keys, own = table.ids, about.originals([sample])[sample].map(str).tolist()
    if max(Counter(keys).values()) > 1:
        if family is None:
            raise ValueError(
                f"The ids of the samples of {source} are not unique, and {about.name} has no column "
                f"{FAMILY}. Add it, or make the ids unique."
            )
        keys = [f"{a} {b}" for a, b in zip(table.samples.family, keys, strict=True)]
        families = about.originals([family])[family].map(str)
        own = [f"{a} {b}" for a, b in zip(families, own, strict=True)]
    wanted = [name for name in covariates if name in names]
    if target == PHENOTYPE and PHENOTYPE not in names:
        place = {key: index for index, key in enumerate(keys)}
        values = pd.Series([table.phenotype[place[key]] if key in place else np.nan for key in own])
        label = PHENOTYPE
    else:
        if target is None:
            others = [name for name in names if name not in (*_IDS, sample, *wanted)]
            if not others:
                raise ValueError(f"{about.name} has no column besides ids and covariates: no target.")
            label = others[0]
        else:
            label = names[find_column(target, names, about.name)]
        values = pd.Series(np.asarray(frame.iloc[:, names.index(label)]))
        if values.dtype.kind in "iuf":
            values = pd.Series(phenotypes(values.to_numpy(np.float64)))
    labelled = values.notna().to_numpy()
    known = [key for key, has in zip(own, labelled, strict=True) if has]
    labels = Labels(known, values[labelled].array, None, label, sample, about.name)
    rows, places, note = match(keys, labels, source)
    if not ids and target is None:
        note = f"The target is {label!r}. {note}"
    of_row = np.flatnonzero(labelled)[places]
    more = frame.iloc[of_row, [names.index(name) for name in wanted]].reset_index(drop=True)
    y = _as_labels(np.asarray(values)[of_row])
    return table._of_samples(rows, more), y, label, note


def _as_labels(values: Any) -> Any:
    """Return whole numbers as integers, so that a case is 2 and not 2.0."""
    if values.dtype.kind == "f" and (values == np.round(values)).all():
        return values.astype(np.int64)
    return values


def _originals(table: GenotypeColumns, y: Any, label: str) -> Callable[[list[str]], Any]:
    """Return a function that reads ids, columns and the target by name."""
    import pandas as pd

    def read(names: list[str]) -> Any:
        own = {FAMILY: table.samples.family, SAMPLE: table.samples.id, label: y}
        variants = set(np.array(table.names, object)[table.is_variant]) & set(names)
        return pd.DataFrame(
            {
                name: own[name]
                if name in own and own[name] is not None
                else pd.array(table.read(name), dtype="Int8")
                if name in variants
                else table.read(name)
                for name in names
            }
        )

    return read
