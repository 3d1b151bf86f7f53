"""A file of genotypes and a file about its samples -> a table with its target and covariates.

Needs pandas. The target is the phenotype of the first file, or a column of the second one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from slfs._core.suggest import similar_names
from slfs.files.about import (
    FAMILY,
    IDS,
    MISSING,
    PARENTS_AND_SEX,
    PHENOTYPE,
    SAMPLE,
    SEX,
    About,
    read_own,
)
from slfs.files.data_file import DataFile, find_column, some_names, split_names, whole_numbers
from slfs.files.genotypes import GenotypeColumns, phenotypes
from slfs.files.marks import Marks
from slfs.files.matching import Labels, match
from slfs.files.plink import write_subset
from slfs.files.source import fingerprint_of, joint_fingerprint


def open_cohort(
    path: Path,
    table: GenotypeColumns,
    about: About | None,
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
    about : About or None
        A table with one row per sample.
    target : str or None
        A column of ``about``, by default the first that is neither an id nor a covariate; or of the
        .psam file. "phenotype" is the phenotype of the file of genotypes.
    ids : sequence of str
        The column of the ids in ``about``, or those of families and ids; by default FID and IID if
        families tell more than ids, IID, or else its first column.
    drop : sequence of str
        Variants to leave out.
    covariates : sequence of str
        Columns of ``about`` to add to the genotypes, and "sex" and "FID" of the file itself.
    """
    people = path.with_suffix(".psam" if path.suffix == ".pgen" else ".fam")
    parts = [fingerprint_of(path), fingerprint_of(people)]
    if about is not None:
        parts.append(about.file.fingerprint)
    source, notes, y, label = str(path), [], None, PHENOTYPE
    dropped = [find_column(one, table.names, source) for one in split_names(drop, table.names)]
    table = table.without([table.names[index] for index in dropped])
    if about is None and target not in (None, PHENOTYPE):
        own = read_own(table)
        if own is None or target not in own.file.names:
            missing = f"There is no file {target!r}, and " if Path(str(target)).suffix else ""
            raise ValueError(
                f"{missing}{source} has no target {target!r}. Pass a file with the column {target!r} "
                "and the ids of the samples as --targets-from, or leave --target out to use the "
                "phenotype of the file."
            )
        about, ids = own, ()
    known = [] if about is None else about.file.names
    ids = split_names(ids, known)
    covariates = list(dict.fromkeys(split_names(covariates, [*known, *table.names])))
    if about is not None:
        table, y, label, note = _match(table, about, source, target, ids, covariates)
        notes.append(note)
    found = DataFile(
        table, y, source, label, joint_fingerprint(*parts), table.names, [FAMILY, SAMPLE], notes
    )
    found = with_covariates(found, None, covariates)
    table = found.X
    _check_covariates(table, about, covariates)
    if _sex_is_unknown(table):
        found.notes.append(
            "The sex of all samples is unknown (0), so that conditioning on it changes nothing. Enter "
            "it in the .fam or .psam file, or use a column of another file (--targets-from)."
        )
    found = replace(found, read_originals=_originals(table, y, label))
    return own_phenotype(found) if y is None and target == PHENOTYPE else found


def _check_covariates(table: GenotypeColumns, about: About | None, names: Sequence[str]) -> None:
    """Raise an error if a covariate is neither a variant nor known about the samples."""
    missing = [name for name in names if name not in table.names and not name.lstrip("-").isdigit()]
    if not missing:
        return
    parts = [part.file for part in (about, read_own(table)) if part is not None]
    columns = [name for part in parts for name in part.names if name not in IDS]
    columns += [SEX, FAMILY]
    near = similar_names(missing[0], columns, cutoff=0.5)
    where = f"not a column of {parts[0].name}" if parts else "not known about its samples"
    hint = (
        f"Did you mean {' or '.join(map(repr, near))}?"
        if near
        else f"Columns about the samples are {some_names(columns)}."
    )
    remedy = "" if about is not None else " Pass a file with other columns as --targets-from."
    raise ValueError(f"{missing[0]!r} is not a variant of {table.path}, and {where}. {hint}{remedy}")


def _sex_is_unknown(table: GenotypeColumns) -> bool:
    """Return whether sex is a covariate without a known value; PLINK writes 0 for unknown."""
    names = [] if table._covariates is None else list(table._covariates.columns)
    sexes = [table._covariates[name] for name in names if str(name).lower() == SEX]
    return any((one.isna() | one.isin([0, "0"])).all() for one in sexes)


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
    y = whole_numbers(table.phenotype)
    originals = _originals(table, y, PHENOTYPE)
    return replace(file, X=table, y=y, target=PHENOTYPE, notes=notes, read_originals=originals)


def with_covariates(
    file: DataFile, about: About | None, names: Sequence[str], ids: Sequence[str] = ()
) -> DataFile:
    """Add columns to genotypes: of a table about the samples, of the .psam file, "sex" and "FID".

    Names that none of them has are ignored. Samples that the table lacks are left out.
    """
    import pandas as pd

    table: GenotypeColumns = file.X
    notes = list(file.notes)
    wanted = [name for name in dict.fromkeys(names) if name not in set(table.names)]
    for part, own_ids in ((about, ids), (read_own(table) if wanted else None, ())):
        found = [] if part is None else [name for name in wanted if name in part.file.names]
        if part is None or not found:
            continue
        keys, own, id_name = _keys(table, part.file, split_names(own_ids, part.file.names))
        rows, places, _ = match(keys, Labels(own, None, "", id_name, part.file.name), file.name)
        if len(rows) < len(keys):
            notes.append(
                f"{len(keys) - len(rows)} of {len(keys)} samples of {file.name} are left out, because "
                f"{part.file.name} does not have them."
            )
        table = table._of_samples(rows, _columns_of(part.file, found, places))
        wanted = [name for name in wanted if name not in found]
    known = pd.DataFrame({SEX: table.samples.sex, FAMILY: table.samples.family})
    if kept := [name for name in wanted if name in known]:
        table = table._of_samples(np.arange(table.n_samples), _without_no_family(known[kept]))
    originals = _originals(table, None, PHENOTYPE)
    return replace(file, X=table, all_names=table.names, notes=notes, read_originals=originals)


def _columns_of(about: DataFile, names: Sequence[str], rows: Any) -> Any:
    """Return rows of some columns of a table about samples."""
    columns = [about.names.index(name) for name in names]
    return _without_no_family(about.in_memory().iloc[rows, columns].reset_index(drop=True))


def _without_no_family(columns: Any) -> Any:
    """Make the families of samples without one, which PLINK writes as 0, missing."""
    families = [name for name in columns.columns if str(name).lstrip("#") == FAMILY]
    return columns.assign(**{name: columns[name].mask(_no_family(columns[name])) for name in families})


def _no_family(families: Any) -> Any:
    return families.map(str).str.strip() == "0"


def with_family_groups(file: DataFile) -> DataFile:
    """Return the file with a group of its own for each sample without a family."""
    import pandas as pd

    groups = pd.Series(np.asarray(file.groups, dtype=object))
    own = "0 " + groups.index.astype(str)  # ids of families have no blanks
    return replace(file, groups=groups.where(~_no_family(groups), own))


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
    found: About,
    source: str,
    target: str | None,
    ids: Sequence[str],
    covariates: Sequence[str],
) -> tuple[GenotypeColumns, Any, str, str]:
    """Keep the samples that have a target; also return target, its name, and a note."""
    import pandas as pd

    about, names = found.file, found.file.names
    keys, own, sample = _keys(table, about, ids)
    wanted = [name for name in covariates if name in names]
    if target == PHENOTYPE and PHENOTYPE not in names:
        place = {key: index for index, key in enumerate(keys)}
        values = pd.Series([table.phenotype[place[key]] if key in place else np.nan for key in own])
        label = PHENOTYPE
    else:
        if target is None:
            taken = {*IDS, *PARENTS_AND_SEX, *(ids or [sample]), *wanted}
            others = [name for name in names if name not in taken]
            if not others:
                raise ValueError(f"{about.name} has no column besides ids and covariates: no target.")
            label = others[0]
        else:
            label = names[find_column(target, names, about.name)]
        column = pd.Series(np.asarray(about.in_memory().iloc[:, names.index(label)]))
        values = Marks(MISSING).remove(column)
        if found.coded and values.dtype.kind in "iuf":
            values = pd.Series(phenotypes(values.to_numpy(np.float64)))
    labelled = values.notna().to_numpy()
    known = [key for key, has in zip(own, labelled, strict=True) if has]
    labels = Labels(known, values[labelled].array, label, sample, about.name)
    rows, places, note = match(keys, labels, source)
    if not ids and target is None:
        note = f"The target is {label!r}. {note}"
    of_row = np.flatnonzero(labelled)[places]
    y = whole_numbers(np.asarray(values)[of_row])  # a case is 2 and not 2.0
    return table._of_samples(rows, _columns_of(about, wanted, of_row)), y, label, note


def _keys(
    table: GenotypeColumns, about: DataFile, ids: Sequence[str]
) -> tuple[list[str], list[str], str]:
    """Return what identifies the samples in both files, and the name of the column of the ids.

    As PLINK does, samples are matched by family and id if both files have families, unless these say
    nothing: all are 0, or equal to the ids.
    """
    names, source = about.names, table.path
    if len(ids) > 2:
        raise ValueError(f"Samples have at most two ids, {FAMILY} and {SAMPLE}. Got {', '.join(ids)}.")
    given = [names[find_column(one, names, about.name)] for one in ids]
    if len(given) == 2 and given[0].lstrip("#") == SAMPLE:
        given.reverse()
    family = next((name for name in names if name.lstrip("#") == FAMILY), None)
    sample = next((name for name in names if name.lstrip("#") == SAMPLE), names[0])
    if given:
        sample = given[-1]
        family = given[0] if len(given) == 2 else family
    keys, own = table.ids, about.originals([sample])[sample].map(str).tolist()
    families: list[str] = [] if family is None else about.originals([family])[family].map(str).tolist()
    kin = table.samples.family.tolist()
    repeated = max(Counter(keys).values()) > 1
    if repeated and family is None:
        raise ValueError(
            f"The ids of the samples of {source} are not unique, and {about.name} has no column "
            f"{FAMILY}. Add it, or make the ids unique."
        )
    by_both = not given and family != sample and _informative(kin, keys) and _informative(families, own)
    if repeated or len(given) == 2 or by_both:
        keys = [f"{a} {b}" for a, b in zip(kin, keys, strict=True)]
        own = [f"{a} {b}" for a, b in zip(families, own, strict=True)]
        sample = f"{family} {sample}"
    return keys, own, sample


def _informative(families: list[str], ids: list[str]) -> bool:
    """Return whether families tell more than ids."""
    return families != ids and not set(families) <= {"0"}


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
