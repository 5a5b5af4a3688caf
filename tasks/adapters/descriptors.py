"""What lets others load a release without asking: `datapackage.json` and `croissant.json`.

The first is a Data Package (Frictionless), the second Croissant metadata (MLCommons), which dataset
search reads. Both name the file, its checksum and its columns, and say what is promised.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from tasks.schema import COLUMNS

PACKAGE: Final = "datapackage.json"
CROISSANT: Final = "croissant.json"
DESCRIPTORS: Final = (PACKAGE, CROISSANT)
MEDIA_TYPES: Final = {
    "tsv": "text/tab-separated-values",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
}
NAME: Final = "query-log-release"
TITLE: Final = "Anonymised query log"
# The vocabulary as Croissant 1.0 wants it to be said in full.
_OWN: Final = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject"),
    *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField"),
    *("path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
    *("separator", "source", "subField", "transform"),
)
CONTEXT: Final[dict[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _OWN},
}


def write_descriptors(
    release_file: Path, description: str, title: str = "", licence: str = ""
) -> None:
    """Describe a release file beside it.

    Args:
        description: what the release is and promises, in words that are published.
        title, licence: of the release, if its publisher has said them.
    """
    package, page = data_package(release_file, description), croissant(release_file, description)
    if title:
        package["title"] = page["alternateName"] = title
    if licence:
        package["licenses"], page["license"] = [{"name": licence, "title": licence}], licence
    made = {PACKAGE: package, CROISSANT: page}
    for name, told in made.items():
        content = json.dumps(told, indent=2, ensure_ascii=False) + "\n"
        release_file.with_name(name).write_bytes(content.encode())


def data_package(release_file: Path, description: str) -> dict[str, Any]:
    form, content = release_file.suffix[1:], release_file.read_bytes()
    resource: dict[str, Any] = {
        "name": "release",
        "path": release_file.name,
        "profile": "tabular-data-resource",
        "format": form,
        "mediatype": MEDIA_TYPES[form],
        "encoding": "utf-8",
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "schema": {
            "fields": [
                {"name": name, "type": "string", "description": said}
                for name, said in COLUMNS.items()
            ],
            "missingValues": [],
        },
    }
    if form != "parquet":
        # Of Parquet its reader counts none, and takes any number for a fault.
        resource["bytes"] = len(content)
        resource["dialect"] = {"delimiter": "\t" if form == "tsv" else ",", "header": True}
    return {
        "profile": "tabular-data-package",
        "name": NAME,
        "title": TITLE,
        "description": description,
        "resources": [resource],
    }


def croissant(release_file: Path, description: str) -> dict[str, Any]:
    form, content = release_file.suffix[1:], release_file.read_bytes()
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"rows/{name}",
            "name": name,
            "description": said,
            "dataType": "sc:Text",
            "source": {"fileObject": {"@id": release_file.name}, "extract": {"column": name}},
        }
        for name, said in COLUMNS.items()
    ]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": NAME,
        "description": description,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": release_file.name,
                "name": release_file.name,
                "contentUrl": release_file.name,
                # Its readers know Parquet by its older name alone.
                "encodingFormat": "application/x-parquet"
                if form == "parquet"
                else MEDIA_TYPES[form],
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
    }
