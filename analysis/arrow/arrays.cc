// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See arrays.h.

#include "analysis/arrow/arrays.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace gpuprof::analysis::arrow {
namespace {

// What an exported array keeps alive.
struct KeptArray {
  std::shared_ptr<const Array> array;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> places;
  ArrowArray dictionary = {};
};

struct KeptField {
  std::string format, name, metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> places;
  ArrowSchema dictionary = {};
};

// Releases a child that its reader has not moved to another place.
template <typename T>
void ReleaseMember(T* member) {
  if (member->release != nullptr) member->release(member);
}

template <typename T, typename Kept>
void Release(T* exported) {
  auto* const kept = static_cast<Kept*>(exported->private_data);
  for (T* const child : kept->places) ReleaseMember(child);
  ReleaseMember(&kept->dictionary);
  exported->release = nullptr;
  exported->private_data = nullptr;
  delete kept;
}

void AppendNumber(size_t number, std::string* to) {
  const auto value = static_cast<int32_t>(number);
  to->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Returns metadata in the form of the specification; "": none.
std::string MetadataOf(const Field& field) {
  std::string text;
  if (field.metadata.empty()) return text;
  AppendNumber(field.metadata.size(), &text);
  for (const auto& [key, value] : field.metadata) {
    AppendNumber(key.size(), &text);
    text += key;
    AppendNumber(value.size(), &text);
    text += value;
  }
  return text;
}

// What a stream keeps.
struct KeptStream {
  std::unique_ptr<BatchSource> source;
  std::mutex mutex;  // a reader may have several threads
  std::string error;
};

// Runs a call of a stream. No exception passes through the C interface.
template <typename Call>
int CallOf(ArrowArrayStream* stream, const Call& call) {
  auto* const kept = static_cast<KeptStream*>(stream->private_data);
  const std::lock_guard lock(kept->mutex);
  try {
    const Error error = call(kept->source.get());
    kept->error = error.message;
    return error ? EIO : 0;
  } catch (const std::bad_alloc&) {
    kept->error = "there is not enough memory for the rows; choose fewer columns";
    return ENOMEM;
  } catch (const std::exception& thrown) {
    kept->error = thrown.what();
    return EIO;
  }
}

}  // namespace

Buffer NewBuffer(size_t bytes) {
  constexpr size_t kAlignment = 64;
  const size_t room = std::max<size_t>((bytes + kAlignment - 1) / kAlignment, 1) * kAlignment;
  void* const memory = std::aligned_alloc(kAlignment, room);
  if (memory == nullptr) throw std::bad_alloc();
  return {static_cast<uint8_t*>(memory), [](uint8_t* at) { std::free(at); }};
}

void ExportArray(std::shared_ptr<const Array> array, ArrowArray* out) {
  auto kept = std::make_unique<KeptArray>();
  for (const Buffer& buffer : array->buffers) kept->buffers.push_back(buffer.get());
  kept->children.resize(array->children.size());
  for (size_t i = 0; i < array->children.size(); ++i) {
    ExportArray(array->children[i], &kept->children[i]);
    kept->places.push_back(&kept->children[i]);
  }
  if (array->dictionary != nullptr) ExportArray(array->dictionary, &kept->dictionary);
  *out = {};
  out->length = array->length;
  out->null_count = array->null_count;
  out->n_buffers = static_cast<int64_t>(kept->buffers.size());
  out->n_children = static_cast<int64_t>(kept->places.size());
  out->buffers = kept->buffers.data();
  out->children = kept->places.data();
  out->dictionary = array->dictionary != nullptr ? &kept->dictionary : nullptr;
  out->release = Release<ArrowArray, KeptArray>;
  kept->array = std::move(array);
  out->private_data = kept.release();
}

void ExportField(const Field& field, ArrowSchema* out) {
  auto kept = std::make_unique<KeptField>();
  kept->format = field.format;
  kept->name = field.name;
  kept->metadata = MetadataOf(field);
  kept->children.resize(field.children.size());
  for (size_t i = 0; i < field.children.size(); ++i) {
    ExportField(field.children[i], &kept->children[i]);
    kept->places.push_back(&kept->children[i]);
  }
  if (field.has_dictionary) ExportField({.name = "", .format = "u"}, &kept->dictionary);
  *out = {};
  out->format = kept->format.c_str();
  out->name = kept->name.c_str();
  out->metadata = kept->metadata.empty() ? nullptr : kept->metadata.data();
  out->flags = field.is_nullable ? ARROW_FLAG_NULLABLE : 0;
  out->n_children = static_cast<int64_t>(kept->places.size());
  out->children = kept->places.data();
  out->dictionary = field.has_dictionary ? &kept->dictionary : nullptr;
  out->release = Release<ArrowSchema, KeptField>;
  out->private_data = kept.release();
}

Error ArraySource::Schema(ArrowSchema* out) {
  ExportField(field(), out);
  return {};
}

Error ArraySource::Next(ArrowArray* out) {
  std::shared_ptr<const Array> batch;
  if (Error error = NextArray(&batch)) return error;
  if (batch != nullptr) ExportArray(std::move(batch), out);
  return {};
}

void ExportStream(std::unique_ptr<BatchSource> source, ArrowArrayStream* out) {
  auto kept = std::make_unique<KeptStream>();
  kept->source = std::move(source);
  out->get_schema = [](ArrowArrayStream* stream, ArrowSchema* schema) {
    *schema = {};
    return CallOf(stream, [&](BatchSource* batches) { return batches->Schema(schema); });
  };
  out->get_next = [](ArrowArrayStream* stream, ArrowArray* array) {
    *array = {};
    return CallOf(stream, [&](BatchSource* batches) { return batches->Next(array); });
  };
  out->get_last_error = [](ArrowArrayStream* stream) -> const char* {
    const auto* const state = static_cast<const KeptStream*>(stream->private_data);
    return state->error.empty() ? nullptr : state->error.c_str();
  };
  out->release = [](ArrowArrayStream* stream) {
    delete static_cast<KeptStream*>(stream->private_data);
    stream->release = nullptr;
    stream->private_data = nullptr;
  };
  out->private_data = kept.release();
}

Buffer PackBits(const uint8_t* bytes, size_t count, size_t* set) {
  Buffer bits = NewBuffer((count + 7) / 8);
  *set = 0;
  for (size_t i = 0; i < count; i += 8) {
    uint8_t packed = 0;
    const size_t end = std::min<size_t>(count - i, 8);
    for (size_t bit = 0; bit < end; ++bit)
      packed = static_cast<uint8_t>(packed | (bytes[i + bit] != 0 ? 1u : 0u) << bit);
    bits[i / 8] = packed;
    *set += static_cast<size_t>(__builtin_popcount(packed));
  }
  return bits;
}

Error TextArray(const std::vector<std::string_view>& texts, std::shared_ptr<const Array>* array) {
  uint64_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  if (bytes > INT32_MAX)
    return {ErrorKind::kUsage,
            "the texts of one column have more than 2 GiB; choose columns without it"};
  auto made = std::make_shared<Array>();
  made->length = static_cast<int64_t>(texts.size());
  const size_t offset_bytes = (texts.size() + 1) * sizeof(int32_t);
  Buffer offsets = NewBuffer(offset_bytes), data = NewBuffer(bytes);
  auto* const ends = reinterpret_cast<int32_t*>(offsets.get());
  int32_t end = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    ends[i] = end;
    if (!texts[i].empty()) std::memcpy(data.get() + end, texts[i].data(), texts[i].size());
    end += static_cast<int32_t>(texts[i].size());
  }
  ends[texts.size()] = end;
  made->buffers = {nullptr, std::move(offsets), std::move(data)};
  made->buffer_bytes = {0, offset_bytes, bytes};
  *array = std::move(made);
  return {};
}

}  // namespace gpuprof::analysis::arrow
