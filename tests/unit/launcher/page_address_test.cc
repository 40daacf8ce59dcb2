// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The way from a page to its bundle.

#include "launcher/serve/page_address.h"

#include <gtest/gtest.h>

namespace gpuprof::launcher {
namespace {

std::string Address(const std::string& page, const std::string& folder) {
  return AddressFromPage(page, folder, "/home/ada/runs").address;
}

TEST(PageAddress, LeadsFromThePageToTheFolder) {
  EXPECT_EQ(Address("report.html", "run1"), "run1/");
  EXPECT_EQ(Address("report.html", "run1/"), "run1/");
  EXPECT_EQ(Address("./report.html", "./a/../run1/."), "run1/");
  EXPECT_EQ(Address("run1/report.html", "run1"), "./");
  EXPECT_EQ(Address("run1/pages/report.html", "run1"), "../");
  EXPECT_EQ(Address("pages/report.html", "run1"), "../run1/");
  EXPECT_EQ(Address("/home/ada/report.html", "run1"), "runs/run1/");
  EXPECT_EQ(Address("report.html", "/home/ada/other/run1"), "../other/run1/");
  EXPECT_EQ(Address("../report.html", "../x"), "x/");
  EXPECT_EQ(Address("report.html", ""), "./");
}

TEST(PageAddress, EscapesWhatAnAddressDoesNotHold) {
  EXPECT_EQ(Address("report.html", "run 1#?%/ä"), "run%201%23%3F%25/%C3%A4/");
  EXPECT_EQ(Address("report.html", "a:b"), "a%3Ab/");
  EXPECT_EQ(Address("report.html", "\xff"), "%FF/");
  EXPECT_EQ(Address("report.html", "A-z_0.9~"), "A-z_0.9~/");
}

TEST(PageAddress, NamesTheFolderThatHoldsBoth) {
  EXPECT_EQ(AddressFromPage("report.html", "run1", "/a/b").folder, "/a/b");
  EXPECT_EQ(AddressFromPage("/a/c/report.html", "run1", "/a/b").folder, "/a");
}

TEST(PageAddress, NeedsAFolderThatHoldsBoth) {
  EXPECT_EQ(AddressFromPage("/tmp/report.html", "/data/run1", "/").address, "");
  EXPECT_EQ(AddressFromPage("/report.html", "/run1", "/").address, "");
}

}  // namespace
}  // namespace gpuprof::launcher
