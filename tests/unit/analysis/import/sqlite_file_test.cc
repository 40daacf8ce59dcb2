// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Databases that SQLite itself made, whole and damaged.

#include "analysis/import/sqlite_file.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>

namespace gpuprof::analysis::import {
namespace {

// Returns the bytes of a database that the statements made.
std::string Made(const std::string& statements) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK)
      << error;
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string made(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return made;
}

Result<std::unique_ptr<SqliteFile>> Opened(std::string bytes) {
  return SqliteFile::Open(std::make_unique<HeldBytes>(std::move(bytes)), "file");
}

constexpr char kTable[] =
    "PRAGMA page_size=512;"
    "CREATE TABLE t (a INTEGER, b TEXT, c, d AS (a + 1));"
    "INSERT INTO t (a, b, c) VALUES (1, 'one', 2.0), (NULL, NULL, 'text'), (-5, x'00ff', 1e300);"
    "CREATE VIEW v AS SELECT a FROM t;";

TEST(SqliteFileTest, ReadsNumbersAndTexts) {
  const auto file = Opened(Made(kTable));
  ASSERT_TRUE(file.ok()) << file.error().message;
  constexpr std::string_view kColumns[] = {"missing", "c", "a", "b", "d"};
  SqliteRows rows = (*file)->Read("t", kColumns);
  EXPECT_FALSE(rows.Has(0));
  // Columns that the database computes are not read: no code of it runs.
  EXPECT_FALSE(rows.Has(4));
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Number(0), std::nullopt);
  EXPECT_EQ(rows.Number(1), 2);
  EXPECT_EQ(rows.Number(2), 1);
  EXPECT_EQ(rows.Text(3), "one");
  EXPECT_EQ(rows.Number(3), std::nullopt);
  EXPECT_EQ(rows.Text(2), std::nullopt);
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Number(2), std::nullopt);
  EXPECT_EQ(rows.NumberOr(2, 7), 7);
  EXPECT_EQ(rows.Text(1), "text");
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Number(2), -5);
  EXPECT_EQ(rows.Text(3), std::nullopt);    // a blob
  EXPECT_EQ(rows.Number(1), std::nullopt);  // no whole number has this size
  EXPECT_FALSE(rows.Next());
  EXPECT_FALSE(rows.error());
  EXPECT_FALSE(rows.Next());
}

// Returns the rows of a table as text, in the order of the file.
std::string Shown(const SqliteFile& file, std::string_view table,
                  std::span<const std::string_view> columns) {
  std::string shown;
  SqliteRows rows = file.Read(table, columns);
  while (rows.Next()) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto number = rows.Number(i);
      const auto text = rows.Text(i);
      shown += number ? std::to_string(*number) : text ? std::string(*text) : "-";
      shown += i + 1 == columns.size() ? '\n' : '|';
    }
  }
  EXPECT_FALSE(rows.error()) << rows.error().message;
  return shown;
}

// Numbers of each size, texts on several pages, and enough rows for pages of pages.
TEST(SqliteFileTest, RowsOfAllShapesAreRead) {
  std::mt19937_64 chance(4);
  for (const char* settings :
       {"PRAGMA page_size=512;", "PRAGMA page_size=65536;", "PRAGMA page_size=1024;",
        "PRAGMA auto_vacuum=FULL;", "PRAGMA encoding='UTF-16le';"}) {
    std::string statements = std::string(settings) +
                             "CREATE TABLE t (a TEXT, id INTEGER PRIMARY KEY, b, c REAL); BEGIN;";
    std::string expected;
    for (int i = 0; i < 3000; ++i) {
      const auto number = static_cast<int64_t>(chance()) >> (chance() % 64);
      const std::string text(chance() % 50 == 0 ? chance() % 20'000 : chance() % 30, 'x');
      const int id = 3 * i + 1;
      const auto real = static_cast<int64_t>(chance() % 1'000'000) - 500'000;
      const std::string b = i % 7 == 0 ? "NULL" : std::to_string(number);
      statements += "INSERT INTO t VALUES ('" + text + "'," + std::to_string(id) + "," + b + "," +
                    std::to_string(real) + ".25);";
      expected += text + "|" + std::to_string(id) + "|" + (i % 7 == 0 ? "-" : b) + "|" +
                  std::to_string(real) + "\n";
    }
    const auto file = Opened(Made(statements + "COMMIT;"));
    ASSERT_TRUE(file.ok()) << file.error().message;
    constexpr std::string_view kColumns[] = {"a", "id", "b", "c"};
    EXPECT_EQ(Shown(**file, "t", kColumns), expected) << settings;
    constexpr std::string_view kOne[] = {"id"};
    EXPECT_EQ(Shown(**file, "t", kOne).substr(0, 6), "1\n4\n7\n");
  }
}

// Rows of these tables do not have all columns, or lie in other pages.
TEST(SqliteFileTest, RareTablesAreReadToo) {
  const auto file =
      Opened(Made("CREATE TABLE added (a); INSERT INTO added VALUES (1); ALTER TABLE added ADD b;"
                  "ALTER TABLE added ADD c DEFAULT 9; INSERT INTO added VALUES (2, 3, 4);"
                  "CREATE TABLE keyed (a INTEGER, k TEXT PRIMARY KEY) WITHOUT ROWID;"
                  "INSERT INTO keyed VALUES (5, 'x'), (6, 'a');"
                  "CREATE TABLE computed (a, b AS (a + 1) STORED, c);"
                  "INSERT INTO computed (a, c) VALUES (7, 8);"
                  "CREATE TABLE two (a INTEGER, b INTEGER, PRIMARY KEY (a, b));"
                  "INSERT INTO two VALUES (9, NULL);"
                  "CREATE TABLE \"od\"\"d\" (a INT PRIMARY KEY, \"od\"\"d\" INTEGER);"
                  "INSERT INTO \"od\"\"d\" VALUES (NULL, 10);"));
  ASSERT_TRUE(file.ok()) << file.error().message;
  constexpr std::string_view kAll[] = {"a", "b", "c"}, kKeyed[] = {"k", "a"},
                             kOdd[] = {"a", "od\"d"};
  EXPECT_EQ(Shown(**file, "added", kAll), "1|-|9\n2|3|4\n");
  EXPECT_EQ(Shown(**file, "keyed", kKeyed), "a|6\nx|5\n");
  EXPECT_EQ(Shown(**file, "computed", kAll), "7|-|8\n");
  EXPECT_EQ(Shown(**file, "two", kAll), "9|-|-\n");
  EXPECT_EQ(Shown(**file, "od\"d", kOdd), "-|10\n");
}

TEST(SqliteFileTest, ViewsAndMissingTablesHaveNoRows) {
  const auto file = Opened(Made(kTable));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->HasTable("t"));
  EXPECT_FALSE((*file)->HasTable("v"));
  constexpr std::string_view kColumns[] = {"a"}, kOther[] = {"x"};
  for (const std::string_view table : {"v", "none", "t\"; DROP TABLE t; --"}) {
    SqliteRows rows = (*file)->Read(table, kColumns);
    EXPECT_FALSE(rows.Next());
    EXPECT_FALSE(rows.error());
  }
  EXPECT_FALSE((*file)->Read("t", kOther).Next());
  EXPECT_TRUE((*file)->HasColumn("t", "a"));
  EXPECT_FALSE((*file)->HasColumn("t", "d"));
}

TEST(SqliteFileTest, OtherBytesAreRefused) {
  for (const std::string& bytes :
       {std::string(), std::string(5000, '\0'), std::string("SQLite format 3\0", 16)}) {
    const auto file = Opened(bytes);
    EXPECT_FALSE(file.ok() && (*file)->HasTable("t"));
  }
  const std::string made = Made(kTable);
  EXPECT_FALSE(Opened(made.substr(0, 300)).ok());
}

TEST(SqliteFileTest, DamagedBytesEndWithRowsOrAnError) {
  std::string statements = kTable;
  for (int i = 0; i < 300; ++i)
    statements += "INSERT INTO t (a, b) VALUES (" + std::to_string(i) + ", 'text of a row');";
  const std::string made = Made(statements);
  std::mt19937 chance(9);
  constexpr std::string_view kColumns[] = {"a", "b", "c"};
  int whole = 0, refused = 0, cut = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = made;
    for (unsigned n = 1 + chance() % 20; n > 0; --n)
      damaged[chance() % damaged.size()] = static_cast<char>(chance());
    if (i % 10 == 0) damaged.resize(chance() % damaged.size());
    const auto file = Opened(std::move(damaged));
    if (!file.ok()) {
      ++refused;
      continue;
    }
    SqliteRows rows = (*file)->Read("t", kColumns);
    int count = 0;
    while (rows.Next()) {
      ++count;
      rows.Number(0);
      rows.Text(1);
    }
    EXPECT_LT(count, 100'000);
    ++(rows.error() ? cut : whole);
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(cut, 0);
}

// The right child of the table's root is the root itself.
TEST(SqliteFileTest, PagesInACircleEnd) {
  std::string statements = "PRAGMA page_size=512; CREATE TABLE t (a INTEGER, b TEXT);";
  for (int i = 0; i < 300; ++i)
    statements += "INSERT INTO t VALUES (" + std::to_string(i) + ", 'text of a row');";
  std::string made = Made(statements);
  constexpr size_t kPage = 512, kRightChild = 8, kRoot = 2;
  ASSERT_EQ(made[kPage * (kRoot - 1)], 5);  // an inner page of a table
  for (size_t i = 0; i < 4; ++i)
    made[kPage * (kRoot - 1) + kRightChild + i] = static_cast<char>(i == 3 ? kRoot : 0);
  const auto file = Opened(std::move(made));
  ASSERT_TRUE(file.ok());
  constexpr std::string_view kColumns[] = {"a"};
  SqliteRows rows = (*file)->Read("t", kColumns);
  while (rows.Next()) continue;
  ASSERT_TRUE(rows.error());
  EXPECT_NE(rows.error().message.find("in circles"), std::string::npos) << rows.error().message;
}

}  // namespace
}  // namespace gpuprof::analysis::import
