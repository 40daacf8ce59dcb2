// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds DuckDB's library. See duckdb_api.h.

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <memory>
#include <string>
#include <vector>

#include "analysis/query/duckdb_api.h"

namespace gpuprof::analysis::duckdb {
namespace {

constexpr char kName[] = "libduckdb.so";

// The library of this process: a second one would have callbacks that ask the first.
std::atomic<const Api*> opened_library{nullptr};

// Returns the folder of the running command, "" if it is not known.
std::string OwnFolder() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return "";
  const std::string file(path, static_cast<size_t>(length));
  return file.substr(0, file.rfind('/'));
}

// Returns where the library may be. A name without a slash is looked for by the system's loader,
// which never looks into the current folder.
std::vector<std::string> Places() {
  std::vector<std::string> places;
  const std::string own = OwnFolder();
  if (!own.empty())
    for (const char* below : {"/", "/../lib/gpuprof/", "/../lib/"})
      places.push_back(own + below + kName);
  places.emplace_back(kName);
  return places;
}

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// Returns the name of a function that the library does not have; "": it has all.
std::string Fill(void* library, Api* api) {
#define GPUPROF_FIND(name, result, arguments) \
  if (!Find(library, "duckdb_" #name, &api->name)) return "duckdb_" #name;
  GPUPROF_DUCKDB_FUNCTIONS(GPUPROF_FIND)
#undef GPUPROF_FIND
#define GPUPROF_LOOK(name, result, arguments) Find(library, "duckdb_" #name, &api->name);
  GPUPROF_DUCKDB_ARROW_FUNCTIONS(GPUPROF_LOOK)
#undef GPUPROF_LOOK
  return "";
}

}  // namespace

const Api& Opened() { return *opened_library.load(); }

Error Open(const std::string& path, const Api** api) {
  *api = opened_library.load();
  if (*api != nullptr) return {};
  std::string reason;
  const std::vector<std::string> places = path.empty() ? Places() : std::vector{path};
  for (const std::string& place : places) {
    void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const said = dlerror();
      if (!path.empty() && said != nullptr) reason = said;
      if (access(place.c_str(), F_OK) == 0 && said != nullptr) reason = said;
      continue;
    }
    auto found = std::make_unique<Api>();
    const std::string missing = Fill(library, found.get());
    if (!missing.empty()) {
      const std::string which = place + " has no " + missing;
      return {ErrorKind::kUsage, which + ": take libduckdb.so of DuckDB 1.2 or newer"};
    }
    *api = found.release();
    opened_library = *api;
    return {};
  }
  return {ErrorKind::kUsage, "queries need DuckDB's library libduckdb.so, and it was not found" +
                                 (reason.empty() ? "" : " (" + reason + ")") +
                                 ". Get it of https://duckdb.org/install (C/C++), or by 'npm pack "
                                 "@duckdb/node-bindings-linux-x64', and name it: --library=FILE"};
}

}  // namespace gpuprof::analysis::duckdb
