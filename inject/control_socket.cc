// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include <atomic>

#include "inject/control_request.h"
#include "inject/control_thread.h"
#include "inject/given_files.h"
#include "inject/guarded_fd.h"
#include "inject/hooks/signals.h"
#include "inject/lifecycle.h"
#include "inject/obstacle.h"
#include "inject/private_files.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/text.h"
#include "inject/tool_lock.h"
#include "inject/tool_thread.h"

namespace gpuprof::inject {
namespace {

constexpr uint64_t kLockLimit = 100'000'000u;
constexpr char kListenerThread[] = "gpuprof-sock";
constexpr size_t kListenerStackBytes = 64 * 1024;

// An exec or exit on an application thread removes the socket while the control thread may just be
// making it.
constinit ToolLock g_lock;
constinit GuardedFd g_socket;                // the newest listener's
char g_path[sizeof(sockaddr_un::sun_path)];  // empty: an abstract name
std::atomic<uint32_t> g_owner{0};            // who made the socket
std::atomic<uint32_t> g_listener{0};         // number of the newest listener
std::atomic<uint32_t> g_is_over{0};          // 1: no listener is wanted any more
// The request being carried out; the listener owns it but while it is kAsked.
enum RequestState : uint32_t { kNothingAsked, kAsked, kAnswered };
struct {
  std::atomic<uint32_t> state{kNothingAsked};
  RequestLine line;
  char answer[2048];
} g_request;
std::atomic<uint32_t> g_removal{kNothingAsked};  // of the socket's name
std::atomic<int> g_server{0};                    // the control thread's id
char g_snapshot[640];  // where the request being answered has put one; empty: nowhere

uint32_t Uid() { return static_cast<uint32_t>(raw::Call(SYS_geteuid)); }

constexpr long kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Whether nobody else may exchange what this user makes in the folder: it is the user's own, or
// root's, and others may write to it only where each may remove no more than their own.
bool IsSafeBase(long fd) {
  struct stat status;
  if (raw::Call(SYS_fstat, fd, raw::Arg(&status)) != 0) return false;
  const bool is_known = status.st_uid == Uid() || status.st_uid == 0;
  return is_known && ((status.st_mode & 022) == 0 || (status.st_mode & S_ISVTX) != 0);
}

// Opens "<base>/gpuprof-<uid>", made with mode 0700. Negative: it is somebody else's, or others
// could exchange it.
long OpenFolder(const char* base, const char* name) {
  const long outer = raw::Call(SYS_openat, AT_FDCWD, raw::Arg(base), kFolder, 0);
  if (outer < 0) return outer;
  long folder = -EPERM;
  if (IsSafeBase(outer)) {
    const bool is_new = raw::Call(SYS_mkdirat, outer, raw::Arg(name), 0700) == 0;
    folder = raw::Call(SYS_openat, outer, raw::Arg(name), kFolder, 0);
    if (folder >= 0 && is_new) raw::Call(SYS_fchmod, folder, 0700);  // whatever the umask
  }
  raw::Call(SYS_close, outer);
  struct stat status;
  if (folder >= 0 && (raw::Call(SYS_fstat, folder, raw::Arg(&status)) != 0 ||
                      status.st_uid != Uid() || (status.st_mode & 077) != 0)) {
    raw::Call(SYS_close, folder);
    return -EPERM;
  }
  return folder;
}

void AddName(Text* text) { text->Number(g_process.pid).Add("-").Hex(g_settings.start_id); }

bool Bind(long fd, const sockaddr_un& address, size_t bytes) {
  return raw::Call(SYS_bind, fd, raw::Arg(&address), static_cast<long>(bytes)) == 0;
}

// Binds by the open folder, whose name somebody may exchange meanwhile.
bool TryBindInFolder(long fd, const char* base) {
  if (base == nullptr || base[0] != '/') return false;
  char folder_name[32], path[sizeof(sockaddr_un::sun_path)];
  Text(folder_name, sizeof(folder_name)).Add(proto::kSocketFolder).Number(Uid());
  Text text(path, sizeof(path));
  text.Add(base).Add("/").Add(folder_name).Add("/");
  const size_t name_at = text.size();
  AddName(&text);
  text.Add(proto::kSocketSuffix);
  if (text.cut()) return false;
  const long folder = OpenFolder(base, folder_name);
  if (folder < 0) return false;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  Text by_folder(address.sun_path, sizeof(address.sun_path));
  by_folder.Add("/proc/thread-self/fd/").Number(folder).Add("/").Add(path + name_at);
  const bool is_bound = !by_folder.cut() && Bind(fd, address, sizeof(address));
  if (is_bound) {
    raw::Call(SYS_fchmodat, folder, raw::Arg(path + name_at), 0600);
    __builtin_memcpy(g_path, path, sizeof(g_path));
  }
  raw::Call(SYS_close, folder);
  return is_bound;
}

// A process that ends may remove the folder just now.
bool BindInFolder(long fd, const char* base) {
  return TryBindInFolder(fd, base) || TryBindInFolder(fd, base);
}

// Returns the bytes of the address.
size_t AbstractAddress(sockaddr_un* address) {
  address->sun_family = AF_UNIX;
  Text name(address->sun_path + 1, sizeof(address->sun_path) - 1);
  name.Add(proto::kSocketFolder).Number(Uid()).Add("/");
  AddName(&name);
  return offsetof(sockaddr_un, sun_path) + 1 + name.size();
}

bool BindAbstract(long fd) {
  sockaddr_un address = {};
  g_path[0] = 0;
  const size_t bytes = AbstractAddress(&address);
  return Bind(fd, address, bytes);
}

const char* StateName() {
  switch (static_cast<proto::CaptureState>(g_process.capture_state.load())) {
    case proto::CaptureState::kDormant:
      return "dormant";
    case proto::CaptureState::kArmed:
      return "armed";
    case proto::CaptureState::kCapturing:
      return "capturing";
    case proto::CaptureState::kDraining:
      return "draining";
    case proto::CaptureState::kFailed:
      return "failed";
  }
  return "unknown";
}

void AddStatus(Text* answer) {
  char executable[256] = {};
  raw::Call(SYS_readlink, raw::Arg("/proc/self/exe"), raw::Arg(executable), sizeof(executable) - 1);
  const tracer::Api* tracer = g_process.tracer;
  const auto line = [&](const char* key) -> Text& { return answer->Add(key).Add("="); };
  line(proto::kKeyPid).Number(g_process.pid).Add("\n");
  line(proto::kKeyState).Add(StateName()).Add("\n");
  line(proto::kKeyCaptures).Number(g_process.captures.load()).Add("\n");
  AddValue(proto::kKeyProgram, BaseName(executable), answer);
  AddValue(proto::kKeyBundle, g_settings.bundle, answer);
  line(proto::kKeyEvents)
      .Number(tracer != nullptr ? static_cast<int64_t>(tracer->records_written()) : 0)
      .Add("\n");
  line(proto::kKeyLost)
      .Number(tracer != nullptr ? static_cast<int64_t>(tracer->records_lost()) : 0)
      .Add("\n");
  line(proto::kKeySignal).Number(SignalInForce()).Add("\n");
  if (g_snapshot[0] != 0) AddValue(proto::kKeySnapshot, g_snapshot, answer);
  line(proto::kKeyOps).Add(tracer != nullptr ? tracer->ops_state() : "none").Add("\n");
}

const char* Start() {
  const AnswersControl answers;
  if (SessionIsDue()) return StartSession() ? nullptr : WhyNotCaptured();
  const auto state = static_cast<proto::CaptureState>(g_process.capture_state.load());
  if (state == proto::CaptureState::kCapturing)
    return "a capture is already running; stop it first";
  return BeginCapture("control") ? nullptr : WhyNotCaptured();
}

const char* Stop() {
  return StopCapture("control") ? nullptr
                                : "no capture is running; start one with `gpuprof ctl start`";
}

// Takes a snapshot; `g_snapshot` says where. Returns the error, or null.
const char* Snapshot(const char* name) {
  proto::SnapshotNumbers numbers = {};
  const char* error = TakeSnapshot(name, &numbers, g_snapshot, sizeof(g_snapshot));
  if (error != nullptr) g_snapshot[0] = 0;  // where it would have been
  return error;
}

const char* Toggle() {
  const auto state = static_cast<proto::CaptureState>(g_process.capture_state.load());
  return state == proto::CaptureState::kCapturing ? Stop() : Start();
}

// Carries out what the line asks for. Returns the error, or null.
const char* Carry(const Request& request) {
  g_snapshot[0] = 0;
  switch (request.verb) {
    case Verb::kStatus:
      return nullptr;
    case Verb::kStart:
      return Start();
    case Verb::kStop:
      return Stop();
    case Verb::kToggle:
      return Toggle();
    case Verb::kSnapshot:
      return Snapshot(request.name);
    case Verb::kUnknown:
      break;
  }
  return request.error;
}

constexpr uint32_t kNobody = ~uint32_t{0};

uint32_t UserOf(long fd) {
  struct {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
  } peer = {};
  socklen_t bytes = sizeof(peer);
  const long result =
      raw::Call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, raw::Arg(&peer), raw::Arg(&bytes));
  return result == 0 ? peer.uid : kNobody;
}

bool IsOwner(uint32_t user) {
  // A server of root's may be somebody else for the moment.
  return (user == Uid() && user == g_owner.load()) || user == 0;
}

// Reads what has come, and takes files that root gives. Whoever else sends files has them closed.
long Receive(long fd, RequestLine* line, bool is_root) {
  alignas(cmsghdr) char control[CMSG_SPACE(kGivenFiles * sizeof(int))];
  iovec part = {line->end(), line->room()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const long n = raw::Call(SYS_recvmsg, fd, raw::Arg(&message), MSG_CMSG_CLOEXEC);
  const cmsghdr* header = n > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
    return n;
  int files[kGivenFiles];
  const auto count = static_cast<int>((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  __builtin_memcpy(files, CMSG_DATA(header), static_cast<size_t>(count) * sizeof(int));
  if (is_root && t_thread.tool == kToolThreadWithoutFiles) {
    TakeGivenFiles(files, count);
  } else {
    for (int i = 0; i < count; ++i) raw::Call(SYS_close, files[i]);
  }
  return n;
}

// Reads one line, within the time limit set on the socket. False: no whole line came.
bool ReadLine(long fd, RequestLine* line, bool is_root) {
  auto state = RequestLine::State::kMore;
  line->Clear();
  while (state == RequestLine::State::kMore) {
    const long n = Receive(fd, line, is_root);
    if (n == -EINTR) continue;
    if (n <= 0) return false;
    state = line->Grow(static_cast<size_t>(n));
  }
  return state == RequestLine::State::kComplete;
}

// On the control thread.
void Carry() {
  const char* error = Carry(ParseRequest(g_request.line.text()));
  Text answer(g_request.answer, sizeof(g_request.answer));
  answer.Add(proto::kKeyResult).Add(error == nullptr ? "=ok\n" : "=error\n");
  if (error != nullptr) answer.Add(proto::kKeyError).Add("=").Add(error).Add("\n");
  AddStatus(&answer);
}

void Wait(std::atomic<uint32_t>* word, uint32_t value) {
  raw::Call(SYS_futex, raw::Arg(word), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, 0);
}

void Answer(long fd) {
  const timeval limit = {2, 0};
  raw::Call(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, raw::Arg(&limit), sizeof(limit));
  raw::Call(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, raw::Arg(&limit), sizeof(limit));
  const uint32_t user = UserOf(fd);
  if (!IsOwner(user) || !ReadLine(fd, &g_request.line, user == 0)) return;
  g_request.state.store(kAsked, std::memory_order_release);
  WakeControlThread();
  while (g_request.state.load(std::memory_order_acquire) == kAsked) Wait(&g_request.state, kAsked);
  const char* answer = g_request.answer;
  // MSG_NOSIGNAL: a client that went away must not kill the program by SIGPIPE.
  raw::Call(SYS_sendto, fd, raw::Arg(answer), static_cast<long>(Length(answer)), MSG_NOSIGNAL, 0,
            0);
}

bool Open() {
  const long fd = raw::Call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const bool bound =
      BindInFolder(fd, g_launch.runtime_folder) || BindInFolder(fd, "/tmp") || BindAbstract(fd);
  g_owner.store(Uid());
  if (!bound || raw::Call(SYS_listen, fd, 8) != 0) {
    raw::Call(SYS_close, fd);
    return false;
  }
  g_socket.Adopt(static_cast<int>(fd));
  return true;
}

// Not once the process is finishing: nobody would remove it.
bool OpenLocked(uint32_t number, GuardedFd* socket) {
  const bool locked = g_lock.Lock(kLockLimit);
  const bool open = number == g_listener.load() && g_process.finished.load() == 0 && Open();
  if (open) *socket = g_socket;
  if (locked) g_lock.Unlock();
  return open;
}

// Each has its number, and leaves when it is not the newest any more.
void* ListenerMain(void* argument) {
  EnterToolThread(kListenerThread);
  if (LeaveProgramsFiles()) t_thread.tool = kToolThreadWithoutFiles;
  const auto number = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(argument));
  GuardedFd socket;
  while (OpenLocked(number, &socket)) {
    // Where it could not leave the program's files, a program that closes all takes the socket
    // along.
    while (number == g_listener.load() && socket.Valid()) {
      pollfd wait = {socket.fd(), POLLIN, 0};
      const timespec limit = {1, 0};
      if (raw::Call(SYS_ppoll, raw::Arg(&wait), 1, raw::Arg(&limit), 0, 8) <= 0) continue;
      const long fd = raw::Call(SYS_accept4, wait.fd, 0, 0, SOCK_CLOEXEC);
      if (fd < 0) continue;
      Answer(fd);
      raw::Call(SYS_close, fd);
    }
    if (number != g_listener.load()) break;
    RemoveControlSocket();
  }
  socket.CloseIfOurs();
  return nullptr;
}

}  // namespace

void OpenControlSocket() noexcept {
  const uintptr_t number = g_listener.fetch_add(1) + 1;
  if (g_is_over.load() != 0 || g_process.finished.load() != 0) return;
  RemoveControlSocket();  // of the one before, which binds no more
  if (StartToolThread(ListenerMain, reinterpret_cast<void*>(number), kListenerStackBytes) != 0)
    Debug("no control socket could be made; only the signal can toggle a capture");
}

void EndListener() noexcept {
  g_is_over.store(1);
  if (g_listener.fetch_add(1) == 0) return;
  // It waits for a client.
  sockaddr_un address = {};
  size_t bytes = AbstractAddress(&address);
  if (g_path[0] != 0) {
    __builtin_memcpy(address.sun_path, g_path, sizeof(g_path));
    bytes = sizeof(address);
  }
  const long fd = raw::Call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  raw::Call(SYS_connect, fd, raw::Arg(&address), static_cast<long>(bytes));
  raw::Call(SYS_close, fd);
}

void RemoveControlSocket() noexcept {
  const bool locked = g_lock.Lock(kLockLimit);
  if (g_path[0] != 0) {
    raw::Call(SYS_unlinkat, AT_FDCWD, raw::Arg(g_path), 0);
    // The last one's folder goes too. Fails while there are others.
    *(const_cast<char*>(BaseName(g_path)) - 1) = 0;
    raw::Call(SYS_unlinkat, AT_FDCWD, raw::Arg(g_path), AT_REMOVEDIR);
  }
  g_path[0] = 0;
  if (locked) g_lock.Unlock();
}

[[gnu::cold]] void HaveControlSocketRemoved() noexcept {
  constexpr timespec kLook = {0, 20'000'000};
  constexpr int kLooks = 10;  // where processors are rare
  // One may be about to be bound: a name that is not there yet says nothing.
  if (g_listener.load() == 0) return;
  if (g_server.load() == raw::GetTid()) return RemoveControlSocket();  // it runs the exit itself
  g_removal.store(kAsked);
  WakeControlThread();
  for (int look = 0; look < kLooks && g_removal.load() == kAsked; ++look) {
    raw::Call(SYS_futex, raw::Arg(&g_removal), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, kAsked,
              raw::Arg(&kLook));
  }
  uint32_t asked = kAsked;
  if (g_removal.compare_exchange_strong(asked, kNothingAsked)) RemoveControlSocket();
}

void ForgetControlSocket() noexcept {
  g_lock.Reset();
  g_path[0] = 0;
  g_listener.store(0);
  g_is_over.store(0);
  g_removal.store(kNothingAsked);
  g_server.store(0);
  g_socket.CloseIfOurs();
  g_request.state.store(kNothingAsked);
}

void ServeControlSocket() noexcept {
  if (g_server.load() == 0) g_server.store(raw::GetTid());
  if (g_removal.load() == kAsked) {
    RemoveControlSocket();
    g_removal.store(kAnswered);
    raw::Call(SYS_futex, raw::Arg(&g_removal), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
  }
  if (g_request.state.load(std::memory_order_acquire) != kAsked) return;
  Carry();
  g_request.state.store(kAnswered, std::memory_order_release);
  raw::Call(SYS_futex, raw::Arg(&g_request.state), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

}  // namespace gpuprof::inject
