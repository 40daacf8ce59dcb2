// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See importers.h.

#include "analysis/import/importers.h"

#include <utility>

#include "analysis/import/chrome_import.h"
#include "analysis/import/chrome_input.h"
#include "analysis/import/flight_import.h"
#include "analysis/import/nsys_import.h"
#include "analysis/import/rocprof_import.h"
#include "analysis/import/snapshot_import.h"
#include "analysis/import/xspace_import.h"
#include "analysis/import/xspace_input.h"

namespace gpuprof::analysis::import {
namespace {

template <XSpaceRun (*kFind)(const codec::InputPath&)>
Recording FindXSpaces(const codec::InputPath& path) {
  XSpaceRun run = kFind(path);
  Recording found;
  found.files = run.files;
  found.import = [run = std::move(run)](const OpenOptions& options, ModelBuilder* model) {
    return ImportXSpace(run, options, model);
  };
  return found;
}

template <std::vector<ForeignFile> (*kFind)(const codec::InputPath&),
          Error (*kImport)(const std::vector<ForeignFile>&, const OpenOptions&, ModelBuilder*)>
Recording FindFiles(const codec::InputPath& path) {
  Recording found;
  found.files = kFind(path);
  found.import = [files = found.files](const OpenOptions& options, ModelBuilder* model) {
    return kImport(files, options, model);
  };
  return found;
}

// A folder of a run may have JSON beside its planes. A pickle is known by its first bytes, also in
// a compressed file, which may be JSON otherwise.
constexpr Importer kImporters[] = {
    {.name = kXSpaceImporter,
     .find = FindXSpaces<FindXSpaceRun>,
     .find_below = FindXSpaces<FindXSpaceRunBelow>,
     .is_below_first = true},
    {.name = kNsysImporter,
     .find = FindFiles<NsysFiles, ImportNsys>,
     .find_below = FindFiles<NsysFilesBelow, ImportNsys>,
     .looks = LooksLikeNsys},
    {.name = kFlightImporter,
     .find = FindFiles<FlightFiles, ImportFlightDumps>,
     .find_below = FindFiles<FlightFilesBelow, ImportFlightDumps>,
     .looks = LooksLikeFlightDump},
    {.name = kSnapshotImporter,
     .find = FindFiles<SnapshotFiles, ImportSnapshots>,
     .find_below = FindFiles<SnapshotFilesBelow, ImportSnapshots>},
    {.name = kRocprofImporter,
     .find = FindFiles<RocprofFiles, ImportRocprof>,
     .find_below = FindFiles<RocprofFilesBelow, ImportRocprof>},
    {.name = kChromeImporter,
     .find = FindFiles<ChromeFiles, ImportChrome>,
     .find_below = FindFiles<ChromeFilesBelow, ImportChrome>,
     .looks = LooksLikeTrace},
};

}  // namespace

std::span<const Importer> Importers() { return kImporters; }

}  // namespace gpuprof::analysis::import
