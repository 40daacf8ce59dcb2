// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See cuda_devices.h.

#include "launcher/gpu/cuda_devices.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gpuprof::launcher {
namespace {

constexpr char kSoname[] = "libcuda.so.1";
constexpr int kSuccess = 0;
constexpr unsigned kUuidBytes = 16;
constexpr int kNameBytes = 256;

using Initialize = int (*)(unsigned flags);
using GetCount = int (*)(int* count);
using GetName = int (*)(char* name, int length, int device);
using GetUuid = int (*)(unsigned char* uuid, int device);

std::string Written(const unsigned char* uuid) {
  std::string text = "GPU-";
  for (unsigned i = 0; i < kUuidBytes; ++i) {
    char byte[4];
    std::snprintf(byte, sizeof byte, "%02x", uuid[i]);
    text += byte;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += "-";
  }
  return text;
}

}  // namespace

std::string ListCudaDevices(std::vector<CudaDevice>* devices) {
  void* handle = dlopen(kSoname, RTLD_NOW | RTLD_LOCAL);  // CUPTI keeps it as well
  if (handle == nullptr)
    return std::string(kSoname) + " cannot be loaded: it comes with the NVIDIA driver";
  const auto initialize = reinterpret_cast<Initialize>(dlsym(handle, "cuInit"));
  const auto get_count = reinterpret_cast<GetCount>(dlsym(handle, "cuDeviceGetCount"));
  const auto get_name = reinterpret_cast<GetName>(dlsym(handle, "cuDeviceGetName"));
  // Of a part of a GPU (MIG) the second is the part's; older drivers do not have it.
  const auto get_whole_uuid = reinterpret_cast<GetUuid>(dlsym(handle, "cuDeviceGetUuid"));
  auto get_uuid = reinterpret_cast<GetUuid>(dlsym(handle, "cuDeviceGetUuid_v2"));
  if (get_uuid == nullptr) get_uuid = get_whole_uuid;
  if (initialize == nullptr || get_count == nullptr || get_name == nullptr || get_uuid == nullptr)
    return std::string(kSoname) +
           " lacks functions: it is another library, or it belongs to an old driver";
  int count = 0;
  int result = initialize(0);
  if (result == kSuccess) result = get_count(&count);
  if (result != kSuccess)
    return "CUDA cannot be initialised alongside the program (result " + std::to_string(result) +
           ")";
  for (int i = 0; i < count; ++i) {
    CudaDevice device;
    device.index = static_cast<size_t>(i);
    char name[kNameBytes] = {};
    if (get_name(name, sizeof name, i) == kSuccess) device.name = name;
    unsigned char uuid[kUuidBytes] = {};
    if (get_uuid(uuid, i) == kSuccess) device.uuid = Written(uuid);
    if (get_whole_uuid != nullptr && get_whole_uuid(uuid, i) == kSuccess)
      device.whole_uuid = Written(uuid);
    devices->push_back(device);
  }
  return "";
}

}  // namespace gpuprof::launcher
