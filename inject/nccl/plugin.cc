// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The profiler plugin that NCCL finds in the process itself: NCCL_PROFILER_PLUGIN=STATIC_PLUGIN.
// A user's own plugin keeps the variable, and then NCCL's ranges of NVTX alone tell about its
// collectives.
//
// NCCL tells each collective and message right behind the launch of its kernel, on the thread of
// the launch: ncclLaunchKernelAfter_NoCuda in src/enqueue.cc. What a graph replays is told by a
// thread of CUDA. Only the begin is of use, because the end says when the host has handed work on.
//
// The functions run on the program's threads: no heap, no lock, errno untouched.

#include <errno.h>
#include <string.h>

#include <atomic>

#include "inject/entry.h"
#include "inject/hook_list.h"
#include "inject/nccl/abi.h"
#include "inject/nccl/communicators.h"
#include "inject/nvtx/definitions.h"
#include "inject/ranges/definitions.h"
#include "inject/ranges/ranges.h"
#include "inject/state.h"
#include "proto/nccl_names.h"

namespace gpuprof::inject::nccl {
namespace {

constexpr uint64_t kSchema = proto::nvtx::kFirstSchemaId;
constexpr uint32_t kMostWordBytes = 16;

// The values of a mark, in the order of the schema.
struct Note {
  uint64_t communicator;
  int64_t number;
  uint64_t bytes;
  uint32_t ranks;
  uint32_t nodes;
  int32_t rank;
  int32_t peer;  // -1: a collective
  int32_t root;  // -1: a message
  uint32_t channels;
  char algorithm[kMostWordBytes];
  char protocol[kMostWordBytes];
  char type[kMostWordBytes];
  char communicator_name[kMostNameBytes];
};

std::atomic<ranges::Text*> g_domain{nullptr};

[[gnu::cold]] void DefineNote() {
  using namespace nvtx;
  constexpr auto number = [](const char* name, uint64_t type) {
    return SchemaEntry{0, type, name, nullptr, 0, 0, nullptr, nullptr};
  };
  constexpr auto text = [](const char* name, uint64_t bytes) {
    return SchemaEntry{uint64_t{kFixedSize} << 4, kChar, name, nullptr, bytes, 0, nullptr, nullptr};
  };
  const SchemaEntry entries[] = {number(proto::kNcclCommunicator, kUint64),
                                 number(proto::kNcclNumber, kInt64),
                                 number(proto::kNcclBytes, kUint64),
                                 number(proto::kNcclRanks, kUint32),
                                 number(proto::kNcclNodes, kUint32),
                                 number(proto::kNcclRank, kInt32),
                                 number(proto::kNcclPeer, kInt32),
                                 number(proto::kNcclRoot, kInt32),
                                 number(proto::kNcclChannels, kUint32),
                                 text(proto::kNcclAlgorithm, kMostWordBytes),
                                 text(proto::kNcclProtocol, kMostWordBytes),
                                 text(proto::kNcclType, kMostWordBytes),
                                 text(proto::kNcclCommunicatorName, kMostNameBytes)};
  SchemaAttributes attributes = {};
  attributes.fields = nvtx::kSchemaType | kSchemaEntries | kSchemaEntryCount | kSchemaId;
  attributes.type = kStaticSchema;
  attributes.entries = entries;
  attributes.entry_count = sizeof(entries) / sizeof(entries[0]);
  attributes.id = kSchema;
  DefineSchema(g_domain, &attributes, 0);
}

bool IsRecorded() {
  return g_settings.bundle[0] != 0 && (g_settings.sources & proto::kSourceNccl) != 0;
}

void Copy(const char* from, char* to) {
  if (from != nullptr) memcpy(to, from, strnlen(from, kMostWordBytes - 1));
}

// Returns the bytes of a value by the type's name: "ncclBfloat16". 0: not known.
uint32_t BytesOfType(const char* type) {
  if (type == nullptr) return 0;
  uint32_t bits = 0;
  const char* at = type;
  while (*at != 0 && (*at < '0' || *at > '9')) ++at;
  for (; *at >= '0' && *at <= '9'; ++at) bits = bits * 10 + static_cast<uint32_t>(*at - '0');
  return bits / 8;
}

// What version 1 has numbers for.
constexpr const char* kOperations[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                       "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr const char* kTypes[] = {"ncclInt8",     "ncclUint8",      "ncclInt32",
                                  "ncclUint32",   "ncclInt64",      "ncclUint64",
                                  "ncclFloat16",  "ncclFloat32",    "ncclFloat64",
                                  "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
constexpr const char* kAlgorithms[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr const char* kProtocols[] = {"LL", "LL128", "SIMPLE"};

template <size_t kCount>
const char* NameOf(const char* const (&names)[kCount], uint8_t code) {
  return code < kCount ? names[code] : nullptr;
}
template <size_t kCount>
const char* NameOf(const char* const (&)[kCount], const char* name) {
  return name;
}

// Versions up to 3 tell the communicator with each event.
template <typename Event>
void NoteCommunicator(const Event& event, Communicator* communicator) {
  if (communicator->id.load(std::memory_order_relaxed) == event.communicator) return;
  if (event.communicator_name != nullptr)
    memcpy(communicator->name, event.communicator_name,
           strnlen(event.communicator_name, kMostNameBytes - 1));
  communicator->id.store(event.communicator, std::memory_order_relaxed);
}

void Write(const char* operation, const Communicator& communicator, const char* type, Note* note) {
  note->communicator = communicator.id.load(std::memory_order_relaxed);
  note->ranks = communicator.ranks;
  note->nodes = communicator.nodes;
  note->bytes *= BytesOfType(type);
  Copy(type, note->type);
  memcpy(note->communicator_name, communicator.name, kMostNameBytes);
  ranges::Payloads payloads;
  payloads.payload[0] = {ranges::FindDefinition(g_domain, kSchema), 0, sizeof(*note),
                         reinterpret_cast<const char*>(note), false};
  payloads.count = payloads.payload[0].definition != nullptr ? 1 : 0;
  ranges::Event event;
  event.domain = g_domain;
  event.message = ranges::Ascii(operation != nullptr ? operation : "Unknown");
  event.payloads = &payloads;
  ranges::Mark(event);
}

template <typename Event>
void OnCollective(const Event& event, Communicator* communicator) {
  if constexpr (requires { event.communicator; }) NoteCommunicator(event, communicator);
  if (!Recording(proto::kSourceNccl)) return;
  Note note = {};
  note.number = static_cast<int64_t>(event.number);
  note.bytes = event.count;
  note.rank = event.head.rank;
  note.peer = -1;
  note.root = event.root;
  note.channels = event.channels;
  Copy(NameOf(kAlgorithms, event.algorithm), note.algorithm);
  Copy(NameOf(kProtocols, event.protocol), note.protocol);
  Write(NameOf(kOperations, event.operation), *communicator, NameOf(kTypes, event.type), &note);
}

template <typename Event>
void OnMessage(const Event& event, Communicator* communicator) {
  if constexpr (requires { event.communicator; }) NoteCommunicator(event, communicator);
  if (!Recording(proto::kSourceNccl)) return;
  Note note = {};
  note.number = note.root = -1;
  note.bytes = event.count;
  note.rank = event.head.rank;
  note.peer = event.peer;
  if constexpr (requires { event.channels; }) note.channels = event.channels;
  Write(NameOf(kOperations, event.operation), *communicator, NameOf(kTypes, event.type), &note);
}

// NCCL stops only events that have a handle.
template <typename Collective, typename Message>
int OnStart(void* context, void** handle, const void* descriptor) {
  *handle = nullptr;
  if (context == nullptr) return 0;
  auto* communicator = static_cast<Communicator*>(context);
  const uint8_t type = static_cast<const EventHead*>(descriptor)->type;
  if (type == kCollectiveEvent)
    OnCollective(*static_cast<const Collective*>(descriptor), communicator);
  if (type == kMessageEvent) OnMessage(*static_cast<const Message*>(descriptor), communicator);
  return 0;
}

int OnStop(void*) { return 0; }
int OnTell(void*, int, void*) { return 0; }

int OnFinish(void* context) {
  if (context != nullptr) RemoveCommunicator(static_cast<Communicator*>(context));
  return 0;
}

int Initialize(void** context, int* mask, const char* name, uint64_t id, int nodes, int ranks) {
  const int saved = errno;
  EnsureEntered();
  *context = nullptr;
  *mask = 0;
  if (IsRecorded() && ranges::PrepareRanges()) {
    g_domain.store(ranges::Intern(ranges::Ascii(proto::kNcclProfilerDomain)));
    DefineNote();
    *context =
        AddCommunicator(id, name, static_cast<uint32_t>(ranks), static_cast<uint32_t>(nodes));
    *mask = kCollectiveEvent | kMessageEvent;
    if (*context == nullptr) ranges::CountValuesLost(1);
  }
  errno = saved;
  return 0;
}

int OnInitializeV1(void** context, int* mask) {
  return Initialize(context, mask, nullptr, 0, 0, 0);
}
int OnInitializeV4(void** context, int* mask, const char* name, uint64_t communicator, int nodes,
                   int ranks, int, void*) {
  return Initialize(context, mask, name, communicator, nodes, ranks);
}
int OnInitializeV5(void** context, uint64_t communicator, int* mask, const char* name, int nodes,
                   int ranks, int, void*) {
  return Initialize(context, mask, name, communicator, nodes, ranks);
}

template <typename Function, typename Collective, typename Message>
constexpr Plugin<Function> MakePlugin(Function* initialize) {
  return {"gpuprof", initialize, OnStart<Collective, Message>, OnStop, OnTell, OnFinish};
}

}  // namespace
}  // namespace gpuprof::inject::nccl

namespace nccl = gpuprof::inject::nccl;

extern "C" {
GPUPROF_EXPORT nccl::Plugin<nccl::InitializeV1> ncclProfiler_v1 =
    nccl::MakePlugin<nccl::InitializeV1, nccl::CollectiveV1, nccl::MessageV1>(nccl::OnInitializeV1);
GPUPROF_EXPORT nccl::Plugin<nccl::InitializeV1> ncclProfiler_v2 =
    nccl::MakePlugin<nccl::InitializeV1, nccl::CollectiveV2, nccl::MessageV2>(nccl::OnInitializeV1);
GPUPROF_EXPORT nccl::Plugin<nccl::InitializeV1> ncclProfiler_v3 =
    nccl::MakePlugin<nccl::InitializeV1, nccl::CollectiveV3, nccl::MessageV2>(nccl::OnInitializeV1);
GPUPROF_EXPORT nccl::Plugin<nccl::InitializeV4> ncclProfiler_v4 =
    nccl::MakePlugin<nccl::InitializeV4, nccl::CollectiveV4, nccl::MessageV4>(nccl::OnInitializeV4);
GPUPROF_EXPORT nccl::Plugin<nccl::InitializeV5> ncclProfiler_v5 =
    nccl::MakePlugin<nccl::InitializeV5, nccl::CollectiveV4, nccl::MessageV4>(nccl::OnInitializeV5);
GPUPROF_EXPORT nccl::Plugin<nccl::InitializeV5> ncclProfiler_v6 =
    nccl::MakePlugin<nccl::InitializeV5, nccl::CollectiveV4, nccl::MessageV4>(nccl::OnInitializeV5);
}
