// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See library_names.h.

#include "analysis/symbols/library_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "analysis/symbols/kernel_rules.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr size_t kMostPieces = 256;

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

void AddWord(std::string* out, std::string_view word) {
  if (word.empty()) return;
  if (!out->empty()) *out += ' ';
  *out += word;
}

std::vector<std::string_view> PiecesOf(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty() && pieces.size() < kMostPieces) {
    const size_t end = std::min(text.find('_'), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

// Counts the numbers of a piece like "128x64"; 0: it is not such a piece.
size_t CountDimensions(std::string_view piece) {
  size_t numbers = 0;
  while (true) {
    const size_t digits = std::min(piece.find_first_not_of(kDigits), piece.size());
    if (digits == 0) return 0;
    ++numbers;
    if (digits == piece.size()) return numbers;
    if (piece[digits] != 'x') return 0;
    piece.remove_prefix(digits + 1);
  }
}

std::string_view MatchBegin(std::span<const TypeRule> rules, std::string_view text) {
  for (const TypeRule& rule : rules) {
    if (text.starts_with(rule.type)) return rule.word;
  }
  return {};
}

// Returns the type that the letters and digits before a word stand for: "s16816gemm", "scudnn".
std::string_view InstructionType(const std::vector<std::string_view>& pieces) {
  constexpr std::array<std::string_view, 5> kWords = {"gemm", "cudnn", "fprop", "dgrad", "wgrad"};
  for (const std::string_view piece : pieces) {
    for (const std::string_view word : kWords) {
      const size_t at = piece.find(word);
      if (at == std::string_view::npos || at == 0) continue;
      std::string_view best;
      size_t length = 0;
      for (const TypeRule& rule : LibraryInstructions()) {
        if (rule.type.size() < length || !piece.substr(0, at).starts_with(rule.type)) continue;
        best = rule.word;
        length = rule.type.size();
      }
      if (!best.empty()) return best;
    }
  }
  return {};
}

std::string_view TypeIn(const std::vector<std::string_view>& pieces) {
  for (const std::string_view piece : pieces) {
    const std::string_view word = MatchBegin(LibraryTypes(), piece);
    if (!word.empty()) return word;
  }
  // nvjet_tst, nvjet_sm90_tst: the operands' letter is the first.
  const size_t types = pieces.size() > 1 && pieces[1].starts_with("sm") ? 2 : 1;
  if (pieces.size() > types && pieces[0] == "nvjet") {
    switch (pieces[types][0]) {
      case 't':
        return "bf16";
      case 'h':
        return "f16";
      case 's':
        return "tf32";
      case 'q':
        return "fp8";
      case 'd':
        return "f64";
      default:
        return {};
    }
  }
  return InstructionType(pieces);
}

bool IsLayout(std::string_view piece) {
  if (piece.size() != 2 && piece.size() != 3) return false;
  const std::string lower = Lower(piece);
  return lower.find_first_not_of("nt") == std::string::npos;
}

std::string LayoutIn(const std::vector<std::string_view>& pieces) {
  for (const std::string_view piece : pieces) {
    if (IsLayout(piece)) return Lower(piece).substr(0, 2);
  }
  for (const std::string_view piece : pieces) {
    if (piece.starts_with("nhwc") || piece.starts_with("nchw"))
      return std::string(piece.substr(0, 4));
  }
  return {};
}

// Returns M and N, and K if a piece has it: tilesize128x128x64, 128x64_64x4,
// 128x64_..._stages_64x4.
std::string TileIn(const std::vector<std::string_view>& pieces) {
  constexpr std::string_view kTileSize = "tilesize";
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::string_view piece = pieces[i];
    if (piece.starts_with(kTileSize)) return std::string(piece.substr(kTileSize.size()));
    if (piece.size() > 1 && piece[0] == 't' &&
        CountDimensions(piece.substr(1, piece.find('u') - 1)) == 3) {
      return std::string(piece.substr(1, piece.find('u') - 1));  // bmm_..._t128x16x256u2
    }
    const size_t numbers = CountDimensions(piece);
    if (numbers > 2) return std::string(piece);
    if (numbers != 2) continue;
    std::string tile(piece);
    for (size_t k = i + 1; k < pieces.size(); ++k) {
      const bool is_next = k == i + 1 || pieces[k - 1] == "stages";
      if (!is_next || CountDimensions(pieces[k]) != 2) continue;
      return tile + "x" + std::string(pieces[k].substr(0, pieces[k].find('x')));
    }
    return tile;
  }
  return {};
}

std::string MarksIn(const std::vector<std::string_view>& pieces) {
  std::string marks;
  for (const std::string_view piece : pieces) {
    for (const TypeRule& rule : LibraryMarks()) {
      if (piece == rule.type) AddWord(&marks, rule.word);
    }
  }
  return marks;
}

// Reads Cijk_Alik_Bljk_BBS_BH_..._MT32x32x256_...: l before the free index means transposed. The
// fourth piece begins with the type of the operands: BBS, HHS, F8BS, I8II.
std::string TensileName(const std::vector<std::string_view>& pieces) {
  // Longer words come before their own begins.
  constexpr TypeRule kTypes[] = {
      {"F8", "fp8"}, {"B8", "fp8"}, {"I8", "i8"}, {"4xi8", "i8"}, {"B", "bf16"}, {"H", "f16"},
      {"S", "f32"},  {"D", "f64"},  {"C", "c64"}, {"Z", "c128"},  {"F", "fp8"},
  };
  if (pieces.size() < 4) return {};
  std::string_view type = MatchBegin(kTypes, pieces[3]);
  if (type.empty()) type = pieces[3];
  std::string out = "gemm";
  AddWord(&out, type);
  AddWord(&out, std::string(pieces[1].starts_with("Al") ? "t" : "n") +
                    (pieces[2].starts_with("Bl") ? "n" : "t"));
  for (const std::string_view piece : pieces) {
    if (piece.starts_with("MT") && CountDimensions(piece.substr(2)) == 3)
      AddWord(&out, piece.substr(2));
  }
  AddWord(&out, MarksIn(pieces));
  return out;
}

// Takes a type of TensorRT-LLM off the begin of `text`.
std::string_view TakeModelType(std::string_view* text) {
  constexpr TypeRule kTypes[] = {
      {"MxE4m3", "mxfp8"}, {"MxE2m1", "mxfp4"}, {"Bfloat16", "bf16"}, {"E4m3", "fp8"},
      {"E2m1", "fp4"},     {"Fp16", "f16"},     {"Fp32", "f32"},      {"E5m2", "fp8"},
  };
  for (const TypeRule& rule : kTypes) {
    if (!text->starts_with(rule.type)) continue;
    text->remove_prefix(rule.type.size());
    return rule.word;
  }
  return {};
}

// Reads bmm_<result>_<A><B>_...
std::string ModelProductName(const std::vector<std::string_view>& pieces) {
  if (pieces.size() < 3) return {};
  std::string_view result = pieces[1], operands = pieces[2];
  const std::string_view to = TakeModelType(&result);
  const std::string_view a = TakeModelType(&operands), b = TakeModelType(&operands);
  if (to.empty() || a.empty()) return {};
  std::string types(a);
  if (!b.empty() && b != a) types += "," + std::string(b);
  if (to != a) types += "->" + std::string(to);
  std::string out = "bmm " + types;
  AddWord(&out, LayoutIn(pieces));
  AddWord(&out, TileIn(pieces));
  AddWord(&out, MarksIn(pieces));
  return out;
}

// Returns the number behind `key`, "128" of "...Q128Kv128..."; "": there is none.
std::string_view NumberBehind(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::string_view rest = text.substr(at + key.size());
    const size_t digits = std::min(rest.find_first_not_of(kDigits), rest.size());
    if (digits > 0) return rest.substr(0, digits);
  }
  return {};
}

// Reads fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext
std::string ModelAttentionName(std::string_view ident) {
  constexpr TypeRule kWords[] = {
      {"PagedKv", "paged"},   {"SlidingOrChunked", "sliding"}, {"Causal", "causal"},
      {"Context", "context"}, {"Generation", "generation"},    {"ForGen", "generation"},
  };
  const size_t key = ident.find("_Qkv");
  if (key == std::string_view::npos) return {};
  std::string_view rest = ident.substr(key + 4);
  const std::string_view from = TakeModelType(&rest);
  if (from.empty()) return {};
  std::string out = "fmha " + std::string(from);
  if (rest.starts_with("O")) {
    rest.remove_prefix(1);
    const std::string_view to = TakeModelType(&rest);
    if (!to.empty() && to != from) out += "->" + std::string(to);
  }
  const std::string_view head = NumberBehind(rest, "H");
  if (!head.empty()) out += " hd" + std::string(head);
  const std::string_view q = NumberBehind(rest, "Q"), kv = NumberBehind(rest, "Kv");
  if (!q.empty() && !kv.empty()) out += " " + std::string(q) + "x" + std::string(kv);
  for (const TypeRule& word : kWords) {
    if (rest.find(word.type) != std::string_view::npos) AddWord(&out, word.word);
  }
  return out;
}

// Reads ncclDevKernel_AllReduce_Sum_bf16_RING_LL, ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t
std::string CollectiveName(std::string_view rest) {
  std::string out = "nccl";
  size_t number = 0;
  for (const std::string_view piece : PiecesOf(rest)) {
    if (piece == "t") continue;  // of int8_t
    std::string word = number++ == 0 || piece.starts_with("LL") ? std::string(piece) : Lower(piece);
    for (const TypeRule& rule : TypeRules()) {
      if (word == rule.type || word + "_t" == rule.type) word = rule.word;
    }
    AddWord(&out, word);
  }
  return out;
}

}  // namespace

std::string ShortLibraryName(std::string_view ident) {
  for (const std::string_view prefix : {"ncclDevKernel_", "ncclSymkDevKernel_", "ncclKernel_"}) {
    if (ident.starts_with(prefix)) return CollectiveName(ident.substr(prefix.size()));
  }
  const auto prefixes = LibraryPrefixes();
  if (std::none_of(prefixes.begin(), prefixes.end(),
                   [&](std::string_view prefix) { return ident.starts_with(prefix); }))
    return {};
  const std::vector<std::string_view> pieces = PiecesOf(ident);
  if (pieces[0] == "Cijk") return TensileName(pieces);
  if (pieces[0] == "bmm") return ModelProductName(pieces);
  if (pieces[0].starts_with("fmhaSm")) return ModelAttentionName(ident);
  std::string out;
  for (const LibraryRule& rule : LibraryRules()) {
    if (ident.find(rule.piece) == std::string_view::npos) continue;
    out = rule.what;
    break;
  }
  const std::string tile = TileIn(pieces);
  if (out.empty() || tile.empty()) return {};
  const std::string_view type = TypeIn(pieces);
  if (out.find(type) == std::string::npos) AddWord(&out, type);
  AddWord(&out, LayoutIn(pieces));
  AddWord(&out, tile);
  AddWord(&out, MarksIn(pieces));
  return out;
}

}  // namespace gpuprof::analysis
