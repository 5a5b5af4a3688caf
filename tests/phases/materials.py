"""The sample as each phase leaves it, for tests of the next one."""

from __future__ import annotations

from dataclasses import dataclass

from tasks.core.records import QueryLog, RecordTable, Release
from tasks.phases.analyse import analyse
from tasks.phases.cluster import Clustering, cluster
from tasks.phases.compare import Comparison, compare
from tasks.phases.job import Job
from tasks.phases.read import read
from tasks.phases.redact import redact
from tasks.settings import Settings
from tests.helpers.releases import job_of


@dataclass(frozen=True)
class Made:
    """The values of all phases up to redaction."""

    job: Job
    log: QueryLog
    table: RecordTable
    comparison: Comparison
    clustering: Clustering
    release: Release


def made_of(settings: Settings) -> Made:
    """What a log of its own leads to, in one process and in parts as large as ever."""
    job = job_of(settings)
    log = read(job)
    table = analyse(job, log)
    compared = compare(job, table)
    clustering = cluster(job, log, table, compared)
    release = redact(job, table, compared, clustering)
    return Made(job, log.value, table.value, compared.value, clustering.value, release.value)
