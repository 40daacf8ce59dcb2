// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// By which names and paths the page of `gpuprof serve` is reached.

#include "launcher/serve/entrance.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuprof::launcher {
namespace {

constexpr uint16_t kPort = 8001;

TEST(Entrance, HasItsOwnNamesAlone) {
  const Entrance entrance;
  EXPECT_TRUE(entrance.IsHost("127.0.0.1:8001", kPort));
  EXPECT_TRUE(entrance.IsHost("localhost:8001", kPort));
  for (const char* host : {"", "localhost", "localhost:9000", "evil.example", "[::1]:8001",
                           "127.0.0.1:8001.evil.example", "localhost:8001x"})
    EXPECT_FALSE(entrance.IsHost(host, kPort)) << host;
  EXPECT_TRUE(entrance.IsOrigin("http://localhost:8001", kPort));
  EXPECT_FALSE(entrance.IsOrigin("https://localhost:8001", kPort));
  EXPECT_FALSE(entrance.IsOrigin("null", kPort));
  EXPECT_EQ(entrance.WithoutPrefix("/token/"), "/token/");
}

TEST(Entrance, AllowsTheNamesThatAreGiven) {
  Entrance entrance;
  EXPECT_EQ(entrance.AllowHosts("Hub.example.org,localhost:9000"), "");
  EXPECT_TRUE(entrance.IsHost("hub.example.org", kPort));
  EXPECT_TRUE(entrance.IsHost("HUB.example.org:443", kPort));
  EXPECT_TRUE(entrance.IsHost("localhost:9000", kPort));
  for (const char* host : {"example.org", "evil.hub.example.org", "hub.example.org.evil.example",
                           "localhost:9001", "localhost", "hub.example.org:443:1",
                           "hub.example.org/x", "user@hub.example.org", "hub.example.org:999999"})
    EXPECT_FALSE(entrance.IsHost(host, kPort)) << host;
  EXPECT_TRUE(entrance.IsOrigin("https://hub.example.org", kPort));
  EXPECT_TRUE(entrance.IsOrigin("http://localhost:9000", kPort));
  EXPECT_FALSE(entrance.IsOrigin("https://evil.example", kPort));
  EXPECT_FALSE(entrance.IsOrigin("ftp://hub.example.org", kPort));
}

TEST(Entrance, RefusesWhatIsNoName) {
  for (const char* names : {"*", "http://hub.example.org", "hub.example.org/user", "a b", ",",
                            "a,,b", ":9000", "a\r\nb"}) {
    Entrance entrance;
    EXPECT_NE(entrance.AllowHosts(names), "") << names;
  }
  Entrance entrance;
  EXPECT_NE(entrance.AllowHosts(std::string(300, 'a')), "");
}

TEST(Entrance, TakesTheProxysPrefixAway) {
  Entrance entrance;
  EXPECT_EQ(entrance.SetPrefix("/user/me@x/proxy/8001/"), "");
  EXPECT_EQ(entrance.prefix(), "/user/me@x/proxy/8001");
  EXPECT_EQ(entrance.WithoutPrefix("/user/me@x/proxy/8001/token/"), "/token/");
  // Many proxies take it away themselves.
  EXPECT_EQ(entrance.WithoutPrefix("/token/results/steps"), "/token/results/steps");
  EXPECT_EQ(entrance.WithoutPrefix("/user/me@x/proxy/80012/token/"),
            "/user/me@x/proxy/80012/token/");
  for (const char* prefix :
       {"user/me", "/a//b", "/a/../b", "/a?b", "/a%2f", "/a b", "http://x/a"}) {
    Entrance other;
    EXPECT_NE(other.SetPrefix(prefix), "") << prefix;
  }
  Entrance none;
  EXPECT_EQ(none.SetPrefix("/"), "");
  EXPECT_EQ(none.prefix(), "");
}

}  // namespace
}  // namespace gpuprof::launcher
