// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_address.h.

#include "launcher/serve/page_address.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

namespace gpuprof::launcher {
namespace {

// Writes a name as a part of an address. Only bytes that are plain in each part stay.
std::string Escaped(std::string_view name) {
  constexpr std::string_view kPlain = "-._~", kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char each : name) {
    const auto byte = static_cast<unsigned char>(each);
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= 'a' && byte <= 'z') ||
                          kPlain.find(each) != std::string_view::npos;
    if (is_plain)
      text += each;
    else
      text += {'%', kDigits[byte / 16], kDigits[byte % 16]};
  }
  return text;
}

// Returns the names of a folder, from the root.
std::vector<std::string> NamesOf(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::filesystem::path& name : folder.relative_path())
    if (!name.empty() && name != ".") names.push_back(name.string());
  return names;
}

}  // namespace

PageAddress AddressFromPage(const std::string& page, const std::string& folder,
                            const std::string& here) {
  const std::filesystem::path base(here);
  const std::vector<std::string> from = NamesOf((base / page).lexically_normal().parent_path());
  const std::vector<std::string> to = NamesOf((base / folder).lexically_normal());
  const auto [left, right] = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
  PageAddress found;
  for (auto name = from.begin(); name != left; ++name) found.folder += "/" + *name;
  if (found.folder.empty()) return {};
  for (auto name = left; name != from.end(); ++name) found.address += "../";
  for (auto name = right; name != to.end(); ++name) found.address += Escaped(*name) + "/";
  if (found.address.empty()) found.address = "./";
  return found;
}

}  // namespace gpuprof::launcher
