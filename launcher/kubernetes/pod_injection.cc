// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See pod_injection.h.

#include "launcher/kubernetes/pod_injection.h"

#include <algorithm>
#include <functional>
#include <set>

#include "launcher/base/version.h"
#include "launcher/kubernetes/text_edits.h"
#include "launcher/kubernetes/workloads.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kWish[] = "gpuprof/inject";    // "true" or "false", by the user
constexpr char kDone[] = "gpuprof/injected";  // the version that did it
constexpr char kInstaller[] = "gpuprof-install";
constexpr char kObjects[] = "gpuprof";
constexpr char kTraces[] = "gpuprof-traces";
constexpr char kPodName[] = "TRACED_POD_NAME";

std::string AtLine(const YamlNode& node) { return "line " + std::to_string(node.line) + ": "; }

std::string WishOf(const YamlNode* metadata, const char* key) {
  const YamlNode* const annotations = metadata == nullptr ? nullptr : metadata->Find("annotations");
  return annotations == nullptr ? "" : annotations->Text(key);
}

void CollectAliases(const YamlNode& node, std::set<std::string>* names) {
  if (node.kind == YamlNode::Kind::kAlias) names->insert(node.text);
  for (const auto& [key, value] : node.pairs) {
    CollectAliases(key, names);
    CollectAliases(value, names);
  }
  for (const YamlNode& item : node.items) CollectAliases(item, names);
}

// Works on one workload.
class PodInjector {
 public:
  PodInjector(const std::string& text, const Workload& workload,
              const std::set<std::string>& aliases, const InjectionOptions& options,
              TextEdits* edits)
      : text_(text), workload_(workload), aliases_(aliases), options_(options), edits_(edits) {}

  // Returns "", or cause and fix.
  std::string Run(std::vector<std::string>* notes) {
    for (const YamlNode* node : workload_.path) {
      const char* const wanted = node->is_sequence() ? "sequence" : "mapping";
      if (std::string fault = WhyUnclear(*node, wanted); !fault.empty()) return fault;
    }
    const YamlNode* const spec = workload_.pod->Find("spec");
    if (spec == nullptr) return AtLine(*workload_.pod) + workload_.Title() + " has no pod spec";
    if (std::string fault = WhyUnclear(*spec, "mapping"); !fault.empty()) return fault;
    if (std::string fault = Choose(*spec); !fault.empty()) return fault;
    if (std::string fault = AddVolumes(*spec); !fault.empty()) return fault;
    for (size_t i = 0; i < chosen_.size(); ++i) {
      if (std::string fault = AddToContainer(*chosen_[i], i, notes); !fault.empty()) return fault;
    }
    edits_->AddKeys(*spec, spec_keys_);
    if (std::string fault = AddAnnotation(); !fault.empty()) return fault;
    std::string names;
    for (const YamlNode* container : chosen_)
      names += (names.empty() ? "" : ", ") + container->Text("name");
    notes->push_back(workload_.Title() + ": recorded in " + names);
    return "";
  }

 private:
  // Says why a place cannot be changed as text; empty: it can.
  std::string WhyUnclear(const YamlNode& node, const char* wanted) const {
    const std::string title = AtLine(node) + workload_.Title() + ": ";
    if (node.kind == YamlNode::Kind::kAlias)
      return title + "the alias *" + node.text + " stands for what has to be changed; write it out";
    const bool is_right = std::string(wanted) == "mapping" ? node.is_mapping() : node.is_sequence();
    if (!is_right && !node.is_null()) return title + "a " + wanted + " was expected here";
    if (!node.anchor.empty() && aliases_.count(node.anchor) != 0)
      return title + "the anchor &" + node.anchor +
             " is used elsewhere too, which would change as well; write it out";
    if (node.Find("<<") != nullptr)
      return title + "a merge key (<<) stands for some of the keys; write them out";
    // A tag or an anchor in front is not understood.
    const bool begins_well =
        node.is_null() || (node.is_flow ? text_[node.begin] == '{' || text_[node.begin] == '['
                                        : node.is_mapping() || text_[node.begin] == '-');
    return begins_well ? "" : title + "a tag or an anchor stands in front; remove it";
  }

  static bool AsksForGpu(const YamlNode& container) {
    const YamlNode* const resources = container.Find("resources");
    for (const char* part : {"limits", "requests"}) {
      const YamlNode* const amounts = resources == nullptr ? nullptr : resources->Find(part);
      if (amounts == nullptr) continue;
      for (const auto& [name, amount] : amounts->pairs) {
        // nvidia.com/gpu, nvidia.com/mig-1g.5gb
        if (name.text.starts_with("nvidia.com/") && amount.text != "0") return true;
      }
    }
    return false;
  }

  // Chooses the containers that are recorded.
  std::string Choose(const YamlNode& spec) {
    const YamlNode* const containers = spec.Find("containers");
    if (containers == nullptr || (containers->is_sequence() && containers->items.empty()) ||
        containers->is_null())
      return AtLine(spec) + workload_.Title() + " has no containers";
    if (std::string fault = WhyUnclear(*containers, "sequence"); !fault.empty()) return fault;
    std::vector<const YamlNode*> all, with_gpu;
    for (const YamlNode& container : containers->items) {
      if (std::string fault = WhyUnclear(container, "mapping"); !fault.empty()) return fault;
      all.push_back(&container);
      if (AsksForGpu(container)) with_gpu.push_back(&container);
    }
    if (options_.containers.empty()) {
      chosen_ = with_gpu.empty() ? all : with_gpu;
      return "";
    }
    for (const std::string& name : options_.containers) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const YamlNode* container) {
        return container->Text("name") == name;
      });
      if (found == all.end())
        return AtLine(spec) + workload_.Title() + " has no container " + name +
               "; correct --container";
      chosen_.push_back(*found);
    }
    return "";
  }

  // Adds items to a list of a mapping, which may have none. Names must be new.
  std::string AddNamed(const YamlNode& owner, const std::string& list, const char* key,
                       const Json& items, Json* new_keys) {
    const YamlNode* const there = owner.Find(list);
    if (there == nullptr) {
      (*new_keys)[list] = items;
      return "";
    }
    if (std::string fault = WhyUnclear(*there, "sequence"); !fault.empty()) return fault;
    for (const YamlNode& item : there->items) {
      for (const Json& added : items) {
        if (item.Text(key) == added[key].get<std::string>())
          return AtLine(item) + workload_.Title() + ": " + list + " has " + item.Text(key) +
                 " already, which gpuprof needs; rename it";
      }
    }
    edits_->AddItems(*there, items);
    return "";
  }

  std::string TracesName(size_t index) const {
    // Each container has a folder of its own, because each may have the same process numbers.
    return chosen_.size() == 1 || !options_.claim.empty() ? kTraces
                                                          : kTraces + ("-" + std::to_string(index));
  }

  std::string BundleOf(const YamlNode& container) const {
    if (options_.claim.empty()) return kTracesMount;
    return std::string(kTracesMount) + "/$(" + kPodName + ")-" + container.Text("name");
  }

  static Json PodNameVariable() {
    return {{"name", kPodName}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}};
  }

  // The user that the containers run as; -1: the images say it.
  int64_t UserOf(const YamlNode& spec) const {
    int64_t user = -1;
    for (const YamlNode* place : {&spec, chosen_[0]}) {
      const YamlNode* const context = place->Find("securityContext");
      const std::string text = context == nullptr ? "" : context->Text("runAsUser");
      const bool is_number = !text.empty() && text.size() < 11 &&
                             text.find_first_not_of("0123456789") == std::string::npos;
      if (is_number) user = std::stoll(text);
    }
    return user;
  }

  bool MustNotBeRoot(const YamlNode& spec) const {
    for (const YamlNode* place : {&spec, chosen_[0]}) {
      const YamlNode* const context = place->Find("securityContext");
      if (context != nullptr && context->Text("runAsNonRoot") == "true") return true;
    }
    return false;
  }

  std::string AddVolumes(const YamlNode& spec) {
    Json volumes = Json::array();
    volumes.push_back({{"name", kObjects}, {"emptyDir", {{"sizeLimit", "128Mi"}}}});
    if (!options_.claim.empty()) {
      volumes.push_back(
          {{"name", kTraces}, {"persistentVolumeClaim", {{"claimName", options_.claim}}}});
    } else {
      for (size_t i = 0; i < chosen_.size(); ++i)
        volumes.push_back(
            {{"name", TracesName(i)}, {"emptyDir", {{"sizeLimit", options_.size_limit}}}});
    }
    Json rights = {{"allowPrivilegeEscalation", false},
                   {"readOnlyRootFilesystem", true},
                   {"capabilities", {{"drop", Json::array({"ALL"})}}}};
    Json installer = {
        {"name", kInstaller},
        {"image", options_.image},
        {"args", Json::array({"install", kObjectsMount})},
        {"volumeMounts", Json::array({Json{{"name", kObjects}, {"mountPath", kObjectsMount}}})}};
    if (!options_.claim.empty()) {
      // The recorder writes into folders of its own user or of root alone.
      const int64_t user = UserOf(spec);
      if (user < 0 && MustNotBeRoot(spec))
        return AtLine(spec) + workload_.Title() +
               " must not run as root, and --claim needs to know its user; give it runAsUser";
      rights["runAsUser"] = std::max<int64_t>(user, 0);
      std::string folders;
      for (const YamlNode* container : chosen_)
        folders += (folders.empty() ? "" : ",") + BundleOf(*container);
      installer["args"].push_back("--folders");
      installer["args"].push_back(folders);
      installer["env"] = Json::array({PodNameVariable()});
      installer["volumeMounts"].push_back({{"name", kTraces}, {"mountPath", kTracesMount}});
    }
    installer["resources"] = {{"requests", {{"cpu", "10m"}, {"memory", "32Mi"}}},
                              {"limits", {{"memory", "64Mi"}}}};
    installer["securityContext"] = rights;
    std::string fault =
        AddNamed(spec, "initContainers", "name", Json::array({installer}), &spec_keys_);
    if (fault.empty()) fault = AddNamed(spec, "volumes", "name", volumes, &spec_keys_);
    return fault;
  }

  std::string AddToContainer(const YamlNode& container, size_t index,
                             std::vector<std::string>* notes) {
    Json keys = Json::object();
    const Json mounts =
        Json::array({Json{{"name", kObjects}, {"mountPath", kObjectsMount}, {"readOnly", true}},
                     Json{{"name", TracesName(index)}, {"mountPath", kTracesMount}}});
    std::string fault = AddNamed(container, "volumeMounts", "mountPath", mounts, &keys);
    if (fault.empty()) fault = AddVariables(container, &keys, notes);
    edits_->AddKeys(container, keys);
    return fault;
  }

  // What the container sets itself stays, except for LD_PRELOAD, which gets one more path.
  std::string AddVariables(const YamlNode& container, Json* keys, std::vector<std::string>* notes) {
    const YamlNode* const there = container.Find("env");
    if (there != nullptr) {
      if (std::string fault = WhyUnclear(*there, "sequence"); !fault.empty()) return fault;
    }
    const std::string title = workload_.Title() + ", " + container.Text("name") + ": ";
    const auto find = [there](const std::string& name) -> const YamlNode* {
      if (there == nullptr) return nullptr;
      for (const YamlNode& item : there->items) {
        if (item.Text("name") == name) return &item;
      }
      return nullptr;
    };
    Json added = Json::array();
    if (!options_.claim.empty() && find(kPodName) == nullptr) added.push_back(PodNameVariable());
    Variables variables = options_.variables;
    variables[proto::kEnvBundle] = BundleOf(container);
    for (const auto& [name, value] : variables) {
      const YamlNode* const own = find(name);
      if (own == nullptr) {
        added.push_back({{"name", name}, {"value", value}});
        continue;
      }
      if (name != "LD_PRELOAD") {
        notes->push_back(title + name + " is set already and stays");
        continue;
      }
      const YamlNode* const text = own->Find("value");
      if (text == nullptr || text->kind != YamlNode::Kind::kScalar)
        return AtLine(*own) + title +
               "LD_PRELOAD comes from elsewhere (valueFrom), so gpuprof cannot be added; give it a "
               "value";
      edits_->Replace(*text, value + (text->text.empty() ? "" : ":" + text->text));
    }
    if (there == nullptr) {
      (*keys)["env"] = added;
    } else {
      edits_->AddItems(*there, added);
    }
    return "";
  }

  std::string AddAnnotation() {
    const Json done = {{kDone, std::string(kVersion)}};
    const YamlNode* const metadata = workload_.pod->Find("metadata");
    if (metadata == nullptr) {
      edits_->AddKeys(*workload_.pod, {{"metadata", {{"annotations", done}}}});
      return "";
    }
    if (std::string fault = WhyUnclear(*metadata, "mapping"); !fault.empty()) return fault;
    const YamlNode* const annotations = metadata->Find("annotations");
    if (annotations == nullptr) {
      edits_->AddKeys(*metadata, {{"annotations", done}});
      return "";
    }
    if (std::string fault = WhyUnclear(*annotations, "mapping"); !fault.empty()) return fault;
    edits_->AddKeys(*annotations, done);
    return "";
  }

  const std::string& text_;
  const Workload& workload_;
  const std::set<std::string>& aliases_;
  const InjectionOptions& options_;
  TextEdits* const edits_;
  std::vector<const YamlNode*> chosen_;
  Json spec_keys_ = Json::object();
};

// Returns "true", "false" or "" as somebody wrote it with the pod, or with its workload.
std::string WishOf(const Workload& workload) {
  const std::string wish = WishOf(workload.pod->Find("metadata"), kWish);
  return wish.empty() ? WishOf(workload.object->Find("metadata"), kWish) : wish;
}

// Chooses the workloads that are changed. Returns "", or cause and fix.
std::string ChooseWorkloads(const Workloads& all, bool is_for_all,
                            std::vector<const Workload*>* chosen, std::vector<std::string>* notes) {
  for (const Workload& workload : all.found) {
    if (!workload.fault.empty()) return workload.fault;
    const std::string wish = WishOf(workload);
    if (!wish.empty() && wish != "true" && wish != "false")
      return workload.Title() + ": " + kWish + " is '" + wish + "'; write \"true\" or \"false\"";
    // The call itself is a wish where it can mean one workload only.
    const bool is_wanted =
        wish == "true" || (wish.empty() && (is_for_all || all.found.size() == 1));
    if (is_wanted) {
      chosen->push_back(&workload);
    } else {
      notes->push_back(workload.Title() + ": left as it is" +
                       (wish == "false" ? ", as its annotation says" : ""));
    }
  }
  for (const std::string& title : all.passed_over)
    notes->push_back(title + ": left as it is: no kind of pod that is known");
  if (all.found.empty())
    return "no object makes pods; name a file with a Pod, a Deployment, a Job or the like";
  if (chosen->empty())
    return "no workload asks for it; write the annotation " + std::string(kWish) +
           ": \"true\" to its pod, or use --all";
  return "";
}

}  // namespace

Injection InjectIntoManifest(const std::string& manifest, const InjectionOptions& options) {
  Injection injection;
  std::vector<YamlNode> documents;
  injection.fault = ReadYaml(manifest, &documents);
  if (!injection.fault.empty()) {
    const bool is_template = manifest.find("{{") != std::string::npos;
    injection.fault +=
        is_template ? "; write the template out first (helm template)" : "; correct the manifest";
    return injection;
  }
  const Workloads all = FindWorkloads(documents);
  std::vector<const Workload*> chosen;
  injection.fault = ChooseWorkloads(all, options.is_for_all, &chosen, &injection.notes);
  std::set<std::string> aliases;
  for (const YamlNode& document : documents) CollectAliases(document, &aliases);
  TextEdits edits(manifest);
  for (const Workload* workload : chosen) {
    if (!injection.fault.empty()) return injection;
    const std::string done = WishOf(workload->pod->Find("metadata"), kDone);
    if (!done.empty()) {
      injection.notes.push_back(workload->Title() + ": left as it is: gpuprof " + done +
                                " is in it already");
      continue;
    }
    injection.fault =
        PodInjector(manifest, *workload, aliases, options, &edits).Run(&injection.notes);
  }
  if (injection.fault.empty()) injection.text = edits.Apply();
  return injection;
}

}  // namespace gpuprof::launcher
