// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which words of a command line are taken for secrets, and which are not.

#include "proto/secret_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpuprof::proto {
namespace {

std::string Masked(const std::vector<std::string>& words) {
  SecretMask mask;
  std::string all;
  for (const std::string& word : words) {
    if (!all.empty()) all += "|";
    mask.Next(word.data(), word.size(),
              [&](const char* text, size_t bytes) { all.append(text, bytes); });
  }
  return all;
}

TEST(SecretWords, ValuesOfNamesThatSpeakOfASecret) {
  EXPECT_EQ(Masked({"--password=hunter2"}), "--password=***");
  EXPECT_EQ(Masked({"--password=a&b;c d=e"}), "--password=***");
  EXPECT_EQ(Masked({"-DdbPassword=x"}), "-DdbPassword=***");
  EXPECT_EQ(Masked({"AWS_SECRET_ACCESS_KEY=x"}), "AWS_SECRET_ACCESS_KEY=***");
  EXPECT_EQ(Masked({"--api-key=x", "api_KEY=y", "mykeyx=z"}),
            "--api-key=***|api_KEY=***|mykeyx=***");
  EXPECT_EQ(Masked({"--hf-token=x", "GITHUB_TOKEN=x", "--pass=x", "--auth=u:p"}),
            "--hf-token=***|GITHUB_TOKEN=***|--pass=***|--auth=***");
}

TEST(SecretWords, TheWordBehindAnOption) {
  EXPECT_EQ(Masked({"--token", "abc", "file"}), "--token|***|file");
  EXPECT_EQ(Masked({"--token", "-abc", "file"}), "--token|***|file");
  EXPECT_EQ(Masked({"--no-password", "--verbose", "file"}), "--no-password|--verbose|file");
  EXPECT_EQ(Masked({"--token", "", "file"}), "--token||file");
  EXPECT_EQ(Masked({"token", "abc"}), "token|abc") << "not an option";
  EXPECT_EQ(Masked({"--token"}), "--token");
}

TEST(SecretWords, WithinAWord) {
  EXPECT_EQ(Masked({"https://host/path?user=a&api_key=b&page=2"}),
            "https://host/path?user=a&api_key=***&page=2");
  EXPECT_EQ(Masked({"Server=a;Password=b;Port=1"}), "Server=a;Password=***;Port=1");
  EXPECT_EQ(Masked({"connect(password='a b', port=3)"}), "connect(password='***', port=3)");
  EXPECT_EQ(Masked({"password='unclosed"}), "password=***");
  EXPECT_EQ(Masked({"Authorization: Bearer a.b.c"}), "Authorization: ***");
  EXPECT_EQ(Masked({"X-Api-Key: abc"}), "X-Api-Key: ***");
}

TEST(SecretWords, UrlsWithAUser) {
  EXPECT_EQ(Masked({"postgres://me:pw@host:5432/db"}), "postgres://me:***@host:5432/db");
  EXPECT_EQ(Masked({"--db=redis://:p@w@host"}), "--db=redis://:***@host");
  EXPECT_EQ(Masked({"a http://u:p@h b http://v:q@i"}), "a http://u:***@h b http://v:***@i");
  EXPECT_EQ(Masked({"https://ghp_abc@github.com/a"}), "https://***@github.com/a");
  EXPECT_EQ(Masked({"ssh://git@host/a", "https://host:80/a@b", "x://", "http://@h"}),
            "ssh://git@host/a|https://host:80/a@b|x://|http://@h");
}

TEST(SecretWords, WhatIsNoSecretStaysAsItIs) {
  const std::vector<std::string> plain = {"--max-tokens=512",
                                          "--tokenizer",
                                          "gpt2",
                                          "--passes=3",
                                          "--author=me",
                                          "-",
                                          "--",
                                          "",
                                          "=",
                                          "a=b",
                                          "--lr=0.1",
                                          "--password",
                                          "--seed=7",
                                          ": x"};
  std::string all;
  for (const std::string& word : plain) all += (&word == plain.data() ? "" : "|") + word;
  EXPECT_EQ(Masked(plain), all);
}

TEST(SecretWords, EveryCutOfAWordIsTaken) {
  const std::string text = "--token https://a:b@c/?key=\"x\"&password: y 'pw=z'";
  for (size_t begin = 0; begin < text.size(); ++begin) {
    for (size_t end = begin; end <= text.size(); ++end) {
      // A copy of its own, so that a sanitizer sees a read beyond it.
      const std::vector<char> copy(text.begin() + static_cast<long>(begin),
                                   text.begin() + static_cast<long>(end));
      SecretMask mask;
      size_t bytes = 0;
      mask.Next(copy.data(), copy.size(), [&](const char*, size_t more) { bytes += more; });
      EXPECT_LE(bytes, copy.size() + 4 * sizeof(kMaskedValue));
      EXPECT_EQ(bytes == 0, copy.empty());
    }
  }
}

}  // namespace
}  // namespace gpuprof::proto
