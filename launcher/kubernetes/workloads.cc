// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See workloads.h.

#include "launcher/kubernetes/workloads.h"

#include <map>

namespace gpuprof::launcher {
namespace {

using Path = std::vector<std::string>;

// Where the pod stands in an object of each kind.
const std::map<std::string, Path>& PodPaths() {
  static const std::map<std::string, Path> paths = {
      {"Pod", {}},
      {"PodTemplate", {"template"}},
      {"ReplicationController", {"spec", "template"}},
      {"ReplicaSet", {"spec", "template"}},
      {"Deployment", {"spec", "template"}},
      {"StatefulSet", {"spec", "template"}},
      {"DaemonSet", {"spec", "template"}},
      {"Job", {"spec", "template"}},
      {"CronJob", {"spec", "jobTemplate", "spec", "template"}},
  };
  return paths;
}

void AddObject(const YamlNode& object, std::vector<const YamlNode*> above, Workloads* workloads) {
  above.push_back(&object);
  const std::string kind = object.Text("kind");
  const YamlNode* const items = object.Find("items");
  if (kind.ends_with("List") && items != nullptr && items->is_sequence()) {
    above.push_back(items);
    for (const YamlNode& item : items->items) AddObject(item, above, workloads);
    return;
  }
  const YamlNode* const metadata = object.Find("metadata");
  Workload workload;
  workload.kind = kind.empty() ? "?" : kind;
  workload.object = &object;
  if (metadata != nullptr) {
    workload.name = metadata->Text("name");
    if (workload.name.empty()) workload.name = metadata->Text("generateName");
  }
  const auto path = PodPaths().find(kind);
  if (path == PodPaths().end()) {
    workloads->passed_over.push_back(workload.Title());
    return;
  }
  workload.pod = &object;
  workload.path = above;
  for (const std::string& key : path->second) {
    workload.pod = workload.pod->Find(key);
    if (workload.pod == nullptr) {
      workload.fault =
          "line " + std::to_string(object.line) + ": " + workload.Title() + " has no " + key;
      break;
    }
    workload.path.push_back(workload.pod);
  }
  workloads->found.push_back(std::move(workload));
}

}  // namespace

Workloads FindWorkloads(const std::vector<YamlNode>& documents) {
  Workloads workloads;
  for (const YamlNode& document : documents) {
    if (!document.is_null()) AddObject(document, {}, &workloads);
  }
  return workloads;
}

}  // namespace gpuprof::launcher
