// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stands in for files of programs. The names come from names.pb.zst (proto/names.proto).

#include "analysis/wasm/platform/modules.h"

#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "analysis/read/input_file.h"
#include "analysis/symbols/module_lines.h"
#include "analysis/symbols/module_symbols.h"
#include "proto/codec/zstd_stream.h"
#include "proto/names.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kMostBytes = size_t{256} << 20;

struct Module {
  const proto::ModuleNames* names = nullptr;
  std::unordered_map<uint64_t, const proto::CodeName*> by_address;
};

struct Names {
  proto::CodeNames message;
  std::map<std::string, Module> modules;  // by KeyOf
};

Names& TheNames() {
  static Names* const names = new Names;
  return *names;
}

std::string KeyOf(const std::string& path, const std::string& build_id) {
  return std::to_string(path.size()) + " " + path + build_id;
}

const Module* FindModule(const std::string& key) {
  const auto found = TheNames().modules.find(key);
  return found == TheNames().modules.end() ? nullptr : &found->second;
}

const proto::CodeName* FindAddress(const std::string& key, uint64_t address) {
  const Module* const module = FindModule(key);
  if (module == nullptr) return nullptr;
  const auto found = module->by_address.find(address);
  return found == module->by_address.end() ? nullptr : found->second;
}

// Returns a text of a module. The file is anybody's: numbers may lead nowhere.
const char* TextOf(const std::string& key, uint32_t number) {
  const Module* const module = FindModule(key);
  if (module == nullptr || number >= static_cast<uint32_t>(module->names->text_size())) return "";
  return module->names->text(static_cast<int>(number)).c_str();
}

bool Unpack(std::string_view frame, std::string* text) {
  codec::ZstdStream stream;
  if (!codec::ZstdStream::Begins(frame) || !stream.Start()) return false;
  for (;;) {
    constexpr size_t kPiece = 1 << 20;
    const size_t done = text->size();
    if (done >= kMostBytes) return false;
    text->resize(done + kPiece);
    const codec::ZstdStream::Step step = stream.Run(frame, text->data() + done, kPiece);
    text->resize(done + step.made);
    frame.remove_prefix(step.used);
    if (step.state == codec::ZstdStream::State::kFrameEnds) return true;
    if (step.state == codec::ZstdStream::State::kBroken || (step.used == 0 && step.made == 0))
      return false;
  }
}

class KnownLines : public ModuleLines {
 public:
  explicit KnownLines(std::string key) : key_(std::move(key)) {}
  SourceLine Find(uint64_t address) override {
    const proto::CodeName* const name = FindAddress(key_, address);
    if (name == nullptr) return {};
    return {TextOf(key_, name->file()), name->line()};
  }

 private:
  const std::string key_;
};

}  // namespace

void UseCodeNames(const std::string& folder) {
  Names& names = TheNames();
  names.modules.clear();
  names.message.Clear();
  const Result<FileBytes> file = ReadFile(folder + "/names.pb.zst", kMostBytes);
  std::string text;
  if (!file.ok() ||
      !Unpack({reinterpret_cast<const char*>(file->data.get()), static_cast<size_t>(file->bytes)},
              &text) ||
      !names.message.ParseFromString(text))
    return;
  for (const proto::ModuleNames& each : names.message.module()) {
    Module& module = names.modules[KeyOf(each.path(), each.build_id())];
    module.names = &each;
    for (const proto::CodeName& name : each.name()) module.by_address[name.address()] = &name;
  }
}

std::shared_ptr<const ModuleSymbols> ModuleSymbols::Get(ModuleFile file) {
  auto symbols = std::make_shared<ModuleSymbols>();
  symbols->file_ = KeyOf(file.path, file.build_id);
  if (const Module* const module = FindModule(symbols->file_)) {
    symbols->note_ = module->names->note();
    symbols->is_missing_ = module->names->is_missing();
  } else {
    symbols->is_missing_ = true;
  }
  return symbols;
}

const char* ModuleSymbols::Find(uint64_t address, uint64_t* start) const {
  const proto::CodeName* const name = FindAddress(file_, address);
  if (name == nullptr) return nullptr;
  *start = name->function_start();
  return TextOf(file_, name->function());
}

bool IsSomewhere(const ModuleFile& file) {
  const Module* const module = FindModule(KeyOf(file.path, file.build_id));
  return module != nullptr && module->names->is_somewhere();
}

std::shared_ptr<ModuleLines> ModuleLines::Get(const std::string& path) {
  return std::make_shared<KnownLines>(path);
}

}  // namespace gpuprof::analysis
