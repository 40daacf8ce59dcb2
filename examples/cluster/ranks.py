#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Asks a data set of `gpuprof export -f parquet` about all ranks of a job, by DuckDB or by Spark.

    pip install duckdb        # or pyspark, which needs Java 17
    python3 ranks.py dataset --engine duckdb --answer what_if

The answers are `rank_steps`, `last`, `job` and `what_if` (ranks.sql). Rows are printed as JSON, one a line. On a cluster, spark-submit runs the
same file: the data set may lie wherever Spark reads.
"""

import argparse
import json
import pathlib
import re
import sys

QUERIES = pathlib.Path(__file__).with_name("ranks.sql")
TABLES = ("steps", "kernels")
# The layout of the data set: job=J/host=H/rank=R/TABLE.parquet.
FOLDERS = "job=*/host=*/rank=*"


def queries():
    """Views, tables and answers, by kind and name, in the order of the file."""
    parts = re.split(r"^-- (view|table|answer): (\w+)$", QUERIES.read_text(), flags=re.M)[1:]
    return [(kind, name, sql.strip().rstrip(";")) for kind, name, sql in zip(parts[::3], parts[1::3], parts[2::3])]


def needed(answers):
    """The parts that the answers are made of, in the order of the file."""
    parts, wanted = queries(), set(answers)
    for kind, name, sql in reversed(parts):
        if name in wanted:
            wanted |= {other for _, other, _ in parts if re.search(rf"\b(from|join) {other}\b", sql)}
    return [part for part in parts if part[1] in wanted]


class DuckDb:
    def __init__(self, dataset, threads):
        import duckdb

        self.database = duckdb.connect(config={"threads": threads} if threads else {})
        for table in TABLES:
            files = f"{dataset}/{FOLDERS}/{table}.parquet".replace("'", "''")
            types = "hive_types = {'job': varchar, 'host': varchar, 'rank': bigint}"
            self.view(table, f"select * from read_parquet('{files}', hive_partitioning = true, union_by_name = true, {types})")

    def view(self, name, sql):
        self.database.execute(f"create view {name} as {sql}")

    def table(self, name, sql):
        self.database.execute(f"create temp table {name} as {sql}")

    def rows(self, sql):
        answer = self.database.execute(sql)
        names = [column[0] for column in answer.description]
        while rows := answer.fetchmany(10_000):
            yield from (dict(zip(names, row)) for row in rows)


class Spark:
    def __init__(self, dataset, threads):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.appName("gpuprof ranks").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "16")
        # Small tables are sent to all workers. Rows of all ranks and steps compress well, and are large all the same.
        builder = builder.config("spark.sql.autoBroadcastJoinThreshold", "1m")
        if threads:
            builder = builder.master(f"local[{threads}]")
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        for table in TABLES:
            reader = self.session.read.option("basePath", dataset)
            reader.parquet(f"{dataset}/{FOLDERS}/{table}.parquet").createOrReplaceTempView(table)

    def view(self, name, sql):
        self.session.sql(sql).createOrReplaceTempView(name)

    def table(self, name, sql):
        # Each part is computed once, and the next ones start from its rows: plans of plans would take longer than the work. What
        # does not fit into memory goes to disk.
        self.session.sql(sql).localCheckpoint().createOrReplaceTempView(name)

    def rows(self, sql):
        return (row.asDict() for row in self.session.sql(sql).toLocalIterator())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--answer", choices=[name for kind, name, _ in queries() if kind == "answer"], action="append", help="default: all")
    parser.add_argument("--threads", type=int, default=0, help="of this machine; 0: as the engine decides")
    options = parser.parse_args()
    engine = {"duckdb": DuckDb, "spark": Spark}[options.engine](options.dataset.rstrip("/"), options.threads)
    answers = options.answer or [name for kind, name, _ in queries() if kind == "answer"]
    for kind, name, sql in needed(answers):
        if kind == "view":
            engine.view(name, sql)
        elif kind == "table":
            engine.table(name, sql)
        else:
            for row in engine.rows(sql):
                sys.stdout.write(json.dumps({"answer": name, **row}, default=float) + "\n")


if __name__ == "__main__":
    main()
