"""The words of the certificate: what figures, settings and clauses are called for a reader.

Who adds a clause, a setting or a figure is asked by a test to say here what it means.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tasks.core.verification.clauses import DIVERSE, TRUE


class Meaning(NamedTuple):
    """What a clause means to somebody who reads no code, and the figure that stands beside it.

    Attributes:
        figure: its name in `measures.json`; empty: all rows were looked at.
        of: what the figure is.
    """

    says: str
    figure: str = ""
    of: str = ""


MEANINGS: Final = {
    "the promise is strict, terms or paper, with k of 2 or more": Meaning(
        "It is written down which promise is made, so that it can be held to.",
        "settings.guarantee",
        "is promised",
    ),
    "the columns are query, concepts, time, cluster: no user key": Meaning(
        "Nothing in the file connects two rows of one person."
    ),
    "every row has four fields": Meaning("Nothing is hidden in surplus fields."),
    "every row stands for one record of one person": Meaning(
        "No row is made up: there are as many as records that were published.",
        "users.published",
        "of those counted are in the release",
    ),
    "every record read was published, withheld or rejected": Meaning(
        "Nothing that was read has gone missing on the way.", "records.read", "rows read"
    ),
    "rows are ordered by what they publish": Meaning(
        "The order of the rows tells nothing of who asked, or when."
    ),
    "every row says something": Meaning("There are no empty rows."),
    "times are months, days or hours, never full timestamps": Meaning(
        "No time can be matched with another log to the second."
    ),
    "clusters are positive whole numbers": Meaning(
        "The last column is a number, in which nothing is hidden.", "clusters.count", "clusters"
    ),
    "every published concept exists in WordNet": Meaning(
        "Concepts come from a public dictionary, not from anybody’s text."
    ),
    "the concepts of a row are sorted, each named once": Meaning(
        "The order of the concepts tells nothing of how somebody typed them."
    ),
    "rows without a cluster publish no concepts": Meaning(
        "Every concept is counted together with the people who share it."
    ),
    "rows without concepts have no cluster": Meaning(
        "Nobody counts as company of people with whom they share nothing sensitive."
    ),
    "no row consists of filler words alone": Meaning(
        "Every row says more than words such as “the” and “how”."
    ),
    "{time}": Meaning(
        "When somebody asked is told no more closely than this.",
        "settings.time",
        "is the finest time",
    ),
    "no query holds a direct identifier": Meaning(
        "No name, address, number or link that the recognisers know is in the release.",
        "identifiers.name",
        "names found in the log",
    ),
    "every cluster stands for at least {who}": Meaning(
        "What is sensitive in a row is true of at least so many.",
        "clusters.min_users",
        "at least behind every cluster",
    ),
    "all rows of a cluster publish the same concepts": Meaning(
        "Within a group nobody can be told from the others by concepts."
    ),
    DIVERSE.format("row"): Meaning(
        "Who knows that somebody stands behind a row does not yet know what is sensitive of them.",
        "settings.l",
        "different sensitive sets",
    ),
    DIVERSE.format("cluster"): Meaning(
        "Who knows that somebody stands behind a cluster does not yet know what is sensitive of "
        "them.",
        "settings.l",
        "different sensitive sets",
    ),
    "every whole row is shared by at least {who}": Meaning(
        "Whoever knows all of somebody’s query is still left with so many who may have asked it.",
        "risk.least_people",
        "at least behind every row",
    ),
    "all rows of one person's query have at least {who} in common": Meaning(
        "Who asks the same again is not found by comparing rows, also of several releases of the "
        "edition.",
        "settings.k",
        "at least in common",
    ),
    "no person has more than {share} of the rows that read alike": Meaning(
        "A row picked at random is not more likely than this one given person’s.",
        "risk.released_worst",
        "is the greatest chance",
    ),
    "no person has more than {share} of the rows of a cluster": Meaning(
        "Nobody is most of a cluster.", "settings.dominance", "is the greatest share"
    ),
    "as many rows read alike as a multiple of {k}": Meaning(
        "One row more or less is seen only where it completes a multiple.",
        "settings.k",
        "is what they are multiples of",
    ),
    "every word is used by at least {who}": Meaning(
        "No single word points to fewer.",
        "risk.partial_knowledge.one_term_least",
        "at least behind every word",
    ),
    TRUE: Meaning(
        "A row says nothing of anybody that they did not ask for; it may say it more generally.",
        "truth.rows_true",
        "of the rows are true",
    ),
}
"""By the words of the clause."""

SETTINGS: Final = {
    "k": "people behind every row (k)",
    "l": "people with different sensitive sets behind a row (l)",
    "dominance": "greatest share of one person in rows that read alike",
    "rounding": "numbers of rows that read alike are multiples of k",
    "method": "method by which people are put together",
    "guarantee": "guarantee",
    "scope": "words that are read as concepts",
    "time": "finest time",
    "threshold": "concepts count as similar from",
    "ancestors": "a concept counts among its own ancestors",
    "distance": "distance of records",
    "format": "format of the log",
    "columns": "columns that were named",
    "person": "who was named as a person",
    "exact_ids": "ids that differ by case alone are different people",
    "encoding": "encoding of the log",
    "delimiter": "delimiter of the log",
    "query_param": "parameter that holds the search",
    "date_order": "order of day and month",
    "language": "language that was named",
    "any_language": "other languages let through",
    "topics": "own list of sensitive topics",
    "spacy_model": "trained language model",
    "release_format": "format of the release",
}

SECTIONS: Final[tuple[tuple[str, str, str, dict[str, str]], ...]] = (
    (
        "Rows",
        "records",
        "read = published + withheld + set aside",
        {
            "read": "read",
            "rejected": "set aside, because they cannot be used",
            "known": "of these known from earlier files",
            "with_attributes": "with attributes",
            "published": "published",
            "withheld": "withheld",
        },
    ),
    ("Rows withheld", "withheld_by_reason", "by reason", {}),
    (
        "Shares of the rows read",
        "shares",
        "1 is all",
        {
            "published": "published",
            "changed": "published, and changed",
            "withheld": "withheld",
            "with_attributes": "with attributes",
            "with_attributes_published": "with attributes, and published",
        },
    ),
    (
        "Who is counted",
        "users",
        "",
        {
            "read": "different ones in the log",
            "published": "of these in the release",
            "counted": "what is counted",
            "column": "told apart by the column",
        },
    ),
    (
        "Language of the queries",
        "language",
        "judged by their words, 1 is all",
        {
            "understood": "language that is understood",
            "not_understood": "share not understood",
            "by_language": "share in",
        },
    ),
    (
        "Words",
        "words",
        "plain words and attributes of all rows",
        {"read": "in the log", "published": "in the release"},
    ),
    (
        "Attributes",
        "attributes",
        "words that hold something sensitive, in all rows",
        {"mentions": "mentions", "in_doubt": "taken as sensitive in doubt"},
    ),
    (
        "Direct identifiers found",
        "identifiers",
        "mentions in the log; none is published",
        {
            "email": "e-mail addresses",
            "phone": "phone numbers",
            "ssn": "social security numbers",
            "card": "card numbers",
            "iban": "bank accounts (IBAN)",
            "ip": "network addresses (IP)",
            "url": "links",
            "address": "street addresses",
            "zip": "postcodes",
            "account": "account numbers",
            "date_of_birth": "dates of birth",
            "name": "names of people",
        },
    ),
    (
        "Clusters",
        "clusters",
        "rows that publish the same concepts",
        {
            "count": "clusters",
            "min_users": "people at least in a cluster",
            "min_size": "rows of the smallest",
            "median_size": "rows of the median one",
            "max_size": "rows of the largest",
        },
    ),
    (
        "Information kept",
        "information",
        "percent of the bits that the log holds",
        {
            "kept_percent": "words, concepts and times together",
            "words_percent": "of plain words",
            "concepts_percent": "of attributes, by word or concept",
            "time_percent": "of times",
            "by_topic": "attributes of the topic",
        },
    ),
    (
        "Truth",
        "truth",
        "1 is all",
        {"concepts_true": "published concepts that are true", "rows_true": "rows that are true"},
    ),
    (
        "Risk",
        "risk",
        "mean and greatest success of the attacks above, 1 is certainty",
        {
            "raw_expected": "singling out in the raw log, mean",
            "raw_worst": "singling out in the raw log, greatest",
            "released_expected": "singling out in the release, mean",
            "released_worst": "singling out in the release, greatest",
            "linked_expected": "linking two rows, mean",
            "linked_chance": "linking two rows, by chance",
            "inferred_expected": "inferring what is sensitive, mean",
            "inferred_chance": "inferring what is sensitive, by chance",
            "least_people": "people at least behind a row",
            "partial_knowledge.one_term_least": "people at least who share one term",
            "partial_knowledge.one_term_mean": "people on average who share one term",
            "partial_knowledge.two_terms_least": "people at least who share two terms of a row",
            "partial_knowledge.two_terms_mean": "people on average who share two terms of a row",
        },
    ),
    (
        "Diversity",
        "diversity",
        "how different the people behind one row are",
        {
            "min_distinct": "different sets of attributes at least in a cluster",
            "median_entropy": "median entropy of a cluster, in bits",
            "sensitive_classes": "different rows whose people all hold something sensitive",
            "homogeneous_classes": "of these homogeneous",
            "homogeneous_rows": "rows in these",
        },
    ),
    (
        "The paper’s loss",
        "information_loss",
        "Eq. 11 to 13, percent, of rows with attributes alone",
        {
            "percent": "what is lost",
            "symmetric_percent": "with what is made up",
            "by_topic": "lost of the topic",
        },
    ),
    (
        "The paper’s cohesion",
        "cohesion",
        "Eq. 10, 0 is best",
        {
            "q25": "a quarter of the clusters is below",
            "median": "half of them is below",
            "q75": "three quarters are below",
            "clusters_below_0_45": "share of clusters below 0.45",
            "records_below_0_45": "share of records below 0.45",
            "record_weighted": "mean over records",
        },
    ),
    (
        "Edition",
        "edition",
        "this release among those of its edition",
        {
            "number": "number of the edition",
            "release": "number of this release",
            "waiting": "rows that wait for a later release",
            "waiting_share": "share of usable rows that wait",
            "joined": "rows with concepts that were published before",
            "new_clusters": "clusters that are new",
            "intersection_with_earlier.records": "published before and again",
            "intersection_with_earlier.least": "people at least left to who compares both",
            "intersection_with_earlier.mean": "people on average left to who compares both",
            "intersection_with_earlier.below_k": "share of these left with fewer than k",
        },
    ),
    (
        "Pairs compared",
        "pairs",
        "distances computed, and taken from earlier runs",
        {
            "attributes_computed": "of attributes, computed",
            "attributes_reused": "of attributes, reused",
            "records_computed": "of records, computed",
            "records_reused": "of records, reused",
        },
    ),
    (
        "Seconds",
        "seconds",
        "of each phase, by the run that did its work",
        {"total": "in all"},
    ),
    ("Settings", "settings", "all that decides the rows", SETTINGS),
    (
        "Versions",
        "versions",
        "",
        {"logveil": "logveil", "wordnet": "WordNet", "python": "Python"},
    ),
)
"""The figures by section: title, key in `measures.json`, note, and what each is called."""

GLOSSARY: Final = {
    "attribute": "a word of a query that holds something sensitive: its concept lies on the branch "
    "of a sensitive topic",
    "bit": "the unit of information: a thing that one in two has holds one bit, one in 1,024 ten. "
    "Of words by how rare they are in English, of concepts by their place in WordNet",
    "chance": "what somebody would get right without the release; only what lies above it is "
    "learnt from the release",
    "clause": "one sentence of the promise, proven on the written file by a checker that shares no "
    "code with what wrote it",
    "cluster": "all rows that publish the same set of concepts",
    "concept": "a meaning in WordNet, written like influenza.n.01; more general ones lie above it",
    "direct identifier": "what names a person by itself: a name, an e-mail address, a phone number",
    "dominance": "the greatest share that one person may have of the rows that read alike",
    "edition": "releases over time that keep the promise together",
    "guarantee": "which clauses are promised: strict, terms or paper",
    "homogeneous": "of a row: all people behind it hold the same sensitive set, so the row tells "
    "it of each of them",
    "inference": "concluding what somebody has asked for without finding their record (WP29)",
    "information kept": "bits that the release still tells, in percent of those that the log "
    "holds, withheld rows included",
    "information loss": "the paper’s measure: squared distance of what is published from what was "
    "typed, in percent of publishing one set for everybody; of rows with attributes alone",
    "k": "the least number of people behind every published row",
    "linkability": "connecting two records of one person (WP29)",
    "manifest": "manifest.json: size and SHA-256 of every file of the release, what is counted and "
    "what is promised",
    "person": "whoever is counted by k: one value of the column named above, unless sessions or "
    "rows are counted",
    "row": "a line of the release; rows that read alike in all columns are one class",
    "sensitive set": "all sensitive concepts of one query together",
    "set aside": "of a row of the log: it cannot be used (no query, no person, no time that can be "
    "read), so it was not even considered",
    "SHA-256": "a fingerprint of a file: whoever changes one byte gets another",
    "singling out": "saying who of all people stands behind a record (WP29)",
    "Sybils": "accounts of one attacker that count as several people",
    "true": "of a row: each of its concepts was typed by everybody behind it, or lies above "
    "something that they typed",
    "waits": "of a row that is withheld from a release of an edition: it is tried again with every "
    "later one",
    "withheld": "of a row of the log: it was read, and is not published, for one of the reasons "
    "that are counted",
    "WordNet": "a public dictionary of English in which meanings are ordered from the general to "
    "the special",
}
"""Every term of the page that a reader may not know."""
